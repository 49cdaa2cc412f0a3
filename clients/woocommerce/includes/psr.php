<?php
/**
 * What the library calls of PSR-7, PSR-17 and PSR-18, under names that no other plugin uses.
 *
 * @package ExternalPayments
 */

// phpcs:disable WordPress.NamingConventions.ValidFunctionName -- The names are those of PSR.

namespace ExternalPayments\WooCommerce\Psr\Http\Message {

	defined( 'ABSPATH' ) || exit;

	interface StreamInterface extends \Stringable {
	}

	interface UriInterface {
		public function getPath(): string;
	}

	interface RequestInterface {
		public function getMethod(): string;
		public function getUri(): UriInterface;
		public function getRequestTarget(): string;
		public function withHeader( string $name, string $value ): static;
		public function withBody( StreamInterface $body ): static;
	}

	interface ResponseInterface {
		public function getStatusCode(): int;
		public function hasHeader( string $name ): bool;
		public function getHeaderLine( string $name ): string;
		public function getBody(): StreamInterface;
	}

	interface RequestFactoryInterface {
		public function createRequest( string $method, string $uri ): RequestInterface;
	}

	interface StreamFactoryInterface {
		public function createStream( string $content ): StreamInterface;
	}
}

namespace ExternalPayments\WooCommerce\Psr\Http\Client {

	use ExternalPayments\WooCommerce\Psr\Http\Message\RequestInterface;
	use ExternalPayments\WooCommerce\Psr\Http\Message\ResponseInterface;

	interface ClientExceptionInterface extends \Throwable {
	}

	interface ClientInterface {
		/** @throws ClientExceptionInterface When there is no response. */
		public function sendRequest( RequestInterface $request ): ResponseInterface;
	}
}
