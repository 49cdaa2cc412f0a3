<?php
/**
 * The page that customers come back to.
 *
 * @package ExternalPayments
 */

declare(strict_types=1);

namespace ExternalPayments\WooCommerce;

defined( 'ABSPATH' ) || exit;

/** WooCommerce's own “order received” page, for which the payment is read. What its address says proves nothing. */
final class Return_Page {

	/** Reloads within so many seconds ask the service once: they may not use up the key's rate limit. */
	private const PAUSE_SECONDS = 5;

	public static function refresh(): void {
		if ( ! is_order_received_page() ) {
			return;
		}
		$order = wc_get_order( absint( get_query_var( 'order-received' ) ) );
		$key   = isset( $_GET['key'] ) && is_string( $_GET['key'] ) ? sanitize_text_field( wp_unslash( $_GET['key'] ) ) : ''; // phpcs:ignore WordPress.Security.NonceVerification -- The order's key is the customer's proof.
		if ( ! $order instanceof \WC_Order || ! $order->key_is_valid( $key ) || ! Order_Payments::are_open( $order ) ) {
			return;
		}
		try {
			Order_Payments::with(
				$order->get_id(),
				static fn( Order_Payments $payments ) => $payments->was_checked_within( self::PAUSE_SECONDS ) ? null : $payments->refresh()
			);
		} catch ( \Throwable $error ) {
			Log::error( "return page, order {$order->get_id()}", $error );
		}
	}

	/** Says that the payment is not final yet, to the customer whose order it is. */
	public static function show( int $order_id ): void {
		$order = wc_get_order( $order_id );
		if ( ! $order instanceof \WC_Order || $order->is_paid() || ! Order_Payments::are_open( $order ) ) {
			return;
		}
		if ( $order->has_status( 'on-hold' ) ) {
			echo '<p class="external-payments-status">' . esc_html__( 'We have seen your payment and are waiting for its network to confirm it. You need not do anything.', 'external-payments' ) . '</p>';
			return;
		}
		$text = Order_Payments::are_paid_in_part( $order )
			? __( 'Part of your payment has arrived. Continue to see what is missing.', 'external-payments' )
			: __( 'We have not seen your payment yet. If you have sent it, this page will show it soon.', 'external-payments' );
		echo '<p class="external-payments-status">' . esc_html( $text )
			. ' <a href="' . esc_url( $order->get_checkout_payment_url() ) . '">' . esc_html__( 'Continue to payment', 'external-payments' ) . '</a></p>';
	}
}
