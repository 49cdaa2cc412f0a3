<?php
/**
 * A response for the library.
 *
 * @package ExternalPayments
 */

declare(strict_types=1);

namespace ExternalPayments\WooCommerce;

use ExternalPayments\WooCommerce\Psr\Http\Message\ResponseInterface;
use ExternalPayments\WooCommerce\Psr\Http\Message\StreamInterface;

defined( 'ABSPATH' ) || exit;

// phpcs:disable WordPress.NamingConventions.ValidFunctionName -- The names are those of PSR.

/** As `wp_remote_request` returns it. */
final class Http_Response implements ResponseInterface {

	/** @param array<string, mixed> $response */
	public function __construct( private array $response ) {
	}

	public function getStatusCode(): int {
		return (int) wp_remote_retrieve_response_code( $this->response );
	}

	public function hasHeader( string $name ): bool {
		return '' !== $this->getHeaderLine( $name );
	}

	public function getHeaderLine( string $name ): string {
		return implode( ', ', (array) wp_remote_retrieve_header( $this->response, $name ) );
	}

	public function getBody(): StreamInterface {
		return new Http_Text( wp_remote_retrieve_body( $this->response ) );
	}
}
