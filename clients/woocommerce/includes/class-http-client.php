<?php
/**
 * Sends the library's requests with WordPress.
 *
 * @package ExternalPayments
 */

declare(strict_types=1);

namespace ExternalPayments\WooCommerce;

use ExternalPayments\WooCommerce\Psr\Http\Client\ClientInterface;
use ExternalPayments\WooCommerce\Psr\Http\Message\RequestFactoryInterface;
use ExternalPayments\WooCommerce\Psr\Http\Message\RequestInterface;
use ExternalPayments\WooCommerce\Psr\Http\Message\ResponseInterface;
use ExternalPayments\WooCommerce\Psr\Http\Message\StreamFactoryInterface;
use ExternalPayments\WooCommerce\Psr\Http\Message\StreamInterface;

defined( 'ABSPATH' ) || exit;

// phpcs:disable WordPress.NamingConventions.ValidFunctionName -- The names are those of PSR.

/** So that the shop's proxy and certificates count for the plugin as well. */
final class Http_Client implements ClientInterface, RequestFactoryInterface, StreamFactoryInterface {

	/** Seconds for one attempt: a customer waits for it, and a webhook is given up after 15. */
	private const TIMEOUT = 10;

	public function createRequest( string $method, string $uri ): RequestInterface {
		return new Http_Request( $method, $uri );
	}

	public function createStream( string $content ): StreamInterface {
		return new Http_Text( $content );
	}

	/** @param Http_Request $request */
	public function sendRequest( RequestInterface $request ): ResponseInterface {
		$response = wp_remote_request(
			$request->url,
			array(
				'method'      => $request->getMethod(),
				'headers'     => $request->headers,
				'body'        => $request->body,
				'timeout'     => self::TIMEOUT,
				'redirection' => 0,
				'user-agent'  => 'external-payments-woocommerce/' . VERSION,
			)
		);
		if ( is_wp_error( $response ) ) {
			throw new Http_Failure( $response->get_error_message() );
		}
		return new Http_Response( $response );
	}
}
