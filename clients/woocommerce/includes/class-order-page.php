<?php
/**
 * The order's page in the admin, and unpaid orders.
 *
 * @package ExternalPayments
 */

declare(strict_types=1);

namespace ExternalPayments\WooCommerce;

defined( 'ABSPATH' ) || exit;

/** WooCommerce checks nonce and capability of order actions. */
final class Order_Page {

	public const ACTION = 'external_payments_check';

	/**
	 * @param array<string, string> $actions
	 * @param \WC_Order|null        $order
	 * @return array<string, string>
	 */
	public static function add_action( array $actions, $order = null ): array {
		if ( $order instanceof \WC_Order && Order_Payments::are_open( $order ) ) {
			$actions[ self::ACTION ] = __( 'Check the crypto payment now', 'external-payments' );
		}
		return $actions;
	}

	public static function check( \WC_Order $order ): void {
		try {
			$seen = Order_Payments::with( $order->get_id(), static fn( Order_Payments $payments ) => $payments->refresh() );
			$text = array() === $seen ? __( 'None is open.', 'external-payments' ) : '';
			foreach ( $seen as $id => $status ) {
				$text .= "$id: $status. ";
			}
		} catch ( \Throwable $error ) {
			Log::error( "order {$order->get_id()}", $error );
			$text = $error->getMessage();
		}
		/* translators: %s: what was found */
		$order->add_order_note( esc_html( sprintf( __( 'Payments checked. %s', 'external-payments' ), trim( $text ) ) ), 0, true );
	}

	/**
	 * Keeps WooCommerce from cancelling an unpaid order while its payment can still be paid.
	 *
	 * @param bool      $may
	 * @param \WC_Order $order
	 */
	public static function may_cancel( $may, $order ): bool {
		return $may && ! Order_Payments::are_open( $order );
	}
}
