<?php
/**
 * A request of the library.
 *
 * @package ExternalPayments
 */

declare(strict_types=1);

namespace ExternalPayments\WooCommerce;

use ExternalPayments\WooCommerce\Psr\Http\Message\RequestInterface;
use ExternalPayments\WooCommerce\Psr\Http\Message\StreamInterface;
use ExternalPayments\WooCommerce\Psr\Http\Message\UriInterface;

defined( 'ABSPATH' ) || exit;

// phpcs:disable WordPress.NamingConventions.ValidFunctionName -- The names are those of PSR.

/** As `wp_remote_request` takes it. */
final class Http_Request implements RequestInterface, UriInterface {

	/** @var array<string, string> */
	public array $headers = array();
	public ?string $body  = null;

	public function __construct( private string $method, public string $url ) {
	}

	public function getMethod(): string {
		return $this->method;
	}

	public function getUri(): UriInterface {
		return $this;
	}

	public function getPath(): string {
		return (string) wp_parse_url( $this->url, PHP_URL_PATH );
	}

	public function getRequestTarget(): string {
		$query = wp_parse_url( $this->url, PHP_URL_QUERY );
		return $this->getPath() . ( null === $query ? '' : "?$query" );
	}

	public function withHeader( string $name, string $value ): static {
		if ( 1 === preg_match( '/[^\x20-\x7E]/', $value ) ) {
			throw new \InvalidArgumentException( 'A header is visible ASCII' );
		}
		$copy                   = clone $this;
		$copy->headers[ $name ] = $value;
		return $copy;
	}

	public function withBody( StreamInterface $body ): static {
		$copy       = clone $this;
		$copy->body = (string) $body;
		return $copy;
	}

	/** @return array<string, mixed> What dumps show: neither the passphrase nor the body. */
	public function __debugInfo(): array {
		return array( 'method' => $this->method );
	}
}
