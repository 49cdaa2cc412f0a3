<?php
/**
 * The webhook.
 *
 * @package ExternalPayments
 */

declare(strict_types=1);

namespace ExternalPayments\WooCommerce;

use ExternalPayments\WooCommerce\Library\WebhookException;
use ExternalPayments\WooCommerce\Library\WebhookVerifier;

defined( 'ABSPATH' ) || exit;

/**
 * Takes an event as a hint to look the payment up: whoever has the webhook's secret alone can pay for nothing, and
 * events may arrive in any order.
 */
final class Webhook {

	public const ENDPOINT = 'external_payments_webhook';

	private const BODY_MAXIMUM = 1_048_576;
	private const HEADERS      = array( 'webhook-id', 'webhook-timestamp', 'webhook-signature' );

	/** Where the service sends events. */
	public static function url(): string {
		return WC()->api_request_url( self::ENDPOINT );
	}

	public static function handle(): void {
		$headers = array();
		foreach ( self::HEADERS as $name ) {
			$headers[ $name ] = (string) wp_unslash( $_SERVER[ 'HTTP_' . strtoupper( strtr( $name, '-', '_' ) ) ] ?? '' ); // phpcs:ignore WordPress.Security.ValidatedSanitizedInput -- Its signature is verified.
		}
		nocache_headers();
		status_header( self::receive( (string) file_get_contents( 'php://input', false, null, 0, self::BODY_MAXIMUM ), $headers ) );
		exit;
	}

	/**
	 * @param string                $body    Exactly the bytes received.
	 * @param array<string, string> $headers
	 * @return int Status to respond with.
	 */
	public static function receive( string $body, array $headers ): int {
		try {
			$event = ( new WebhookVerifier( Settings::get( 'webhook_secret' ) ) )->verify( $body, $headers );
		} catch ( WebhookException $error ) {
			return 400;
		} catch ( \InvalidArgumentException $error ) {
			Log::error( 'webhook', $error );
			return 503;
		}
		// Of a creation there is nothing to learn, and it may not be recorded yet.
		$payment_id = 'payment_prompt.created' === $event['type'] ? null : $event['data']['id'] ?? null;
		$order_id   = is_string( $payment_id ) ? Order_Payments::find_order( $payment_id ) : null;
		if ( null === $order_id ) {
			return 204;
		}
		try {
			Order_Payments::with( $order_id, static fn( Order_Payments $payments ) => $payments->refresh() );
			return 204;
		} catch ( \Throwable $error ) {
			Log::error( "webhook, order $order_id", $error );
			return 503;
		}
	}
}
