<?php
/**
 * What becomes of an order.
 *
 * @package ExternalPayments
 */

declare(strict_types=1);

namespace ExternalPayments\WooCommerce;

defined( 'ABSPATH' ) || exit;

/**
 * Makes an order follow its payments; nothing else does. A payment's status here is that of the API, or `detected`
 * for one that is pending while enough funds were seen.
 */
final class Outcome {

	private const OPEN  = array( 'pending', 'detected' );
	private const ENDED = array( 'unsuccessful', 'expired', 'cancelled' );
	/** Code of the error of a payment for which too little has arrived. */
	private const UNDERPAID = 'amount_underpaid';
	/** Statuses of orders that a payment completes. Any other one was chosen by somebody. */
	private const UNPAID = array( 'pending', 'failed', 'on-hold', 'checkout-draft' );

	public static function is_open( string $status ): bool {
		return in_array( $status, self::OPEN, true );
	}

	/**
	 * Does what follows from a payment, once for each of its statuses.
	 *
	 * @param array<string, mixed> $payment As the API returns it.
	 * @param string               $known   Its status of which the order knows.
	 * @param list<string>         $others  Statuses of the order's other payments.
	 * @return string Its status of which the order knows now.
	 * @throws Busy When WooCommerce could not complete the order.
	 */
	public static function follow( \WC_Order $order, array $payment, string $known, array $others ): string {
		$id     = $payment['id'];
		$status = 'pending' === $payment['status'] && 'completed' === $payment['sessionStatus'] ? 'detected' : $payment['status'];
		if ( $status === $known ) {
			return $known;
		}
		// Only its own hold is lifted, and none while another payment has paid and people are to decide.
		$is_held_by_it = 'detected' === $known && ! in_array( 'successful', $others, true );
		if ( 'successful' === $status ) {
			self::be_paid( $order, $payment );
		} elseif ( 'detected' === $status ) {
			/* translators: 1: ID of a payment, 2: transaction */
			$text = sprintf( __( 'Payment %1$s was seen and is not final yet. Do not deliver. Transaction: %2$s', 'external-payments' ), $id, self::transaction( $payment ) );
			self::move( $order, array( 'pending', 'failed' ), 'on-hold', $text );
		} elseif ( 'pending' === $status ) {
			/* translators: %s: ID of a payment */
			$text = sprintf( __( 'The transfer of payment %s was undone by its network. It may still be paid.', 'external-payments' ), $id );
			self::move( $order, $is_held_by_it ? array( 'on-hold' ) : array(), 'pending', $text );
		} elseif ( in_array( $status, self::ENDED, true ) ) {
			/* translators: 1: ID of a payment, 2: status */
			$text = sprintf( __( 'Payment %1$s has ended unpaid: %2$s.', 'external-payments' ), $id, $status ) . self::last_words( $payment );
			$from = $is_held_by_it ? array( 'pending', 'on-hold' ) : array( 'pending' );
			// The customer may have chosen another way to pay since.
			$from = Gateway::ID === $order->get_payment_method() ? $from : array();
			self::move( $order, $from, array() === array_intersect( self::OPEN, $others ) ? 'failed' : 'pending', $text );
		} else {
			return $known;
		}
		return $status;
	}

	/**
	 * Says what is missing of a payment that was paid in part, once for each amount.
	 *
	 * @param array<string, mixed> $payment As the API returns it.
	 * @param string               $known   What the order knows to be missing.
	 * @return string What it knows now; empty when the payment is not open, or nothing has arrived.
	 */
	public static function note_shortfall( \WC_Order $order, array $payment, string $known ): string {
		$now = 'pending' === $payment['status'] && self::is_underpaid( $payment ) ? (string) $payment['lastError']['message'] : '';
		if ( '' !== $now && $now !== $known ) {
			/* translators: 1: ID of a payment, 2: what has arrived and what is missing, in English */
			$order->add_order_note( sprintf( __( 'Payment %1$s was paid in part. %2$s', 'external-payments' ), $payment['id'], esc_html( $now ) ) );
		}
		return $now;
	}

	/** @param array<string, mixed> $payment */
	private static function is_underpaid( array $payment ): bool {
		return self::UNDERPAID === ( $payment['lastError']['code'] ?? '' );
	}

	/** @param array<string, mixed> $payment One that has ended unpaid. */
	private static function last_words( array $payment ): string {
		if ( ! isset( $payment['lastError'] ) ) {
			return '';
		}
		/* translators: %s: message of the service, in English */
		$text = ' ' . sprintf( __( 'The service said last: “%s”', 'external-payments' ), esc_html( $payment['lastError']['message'] ) );
		return self::is_underpaid( $payment ) ? $text . ' ' . __( 'Return to the customer what has arrived, or decide by hand.', 'external-payments' ) : $text;
	}

	/** @param array<string, mixed> $payment A successful one. */
	private static function be_paid( \WC_Order $order, array $payment ): void {
		$reference = $payment['transactionHash'] ?? $payment['id'];
		/* translators: 1: amount, 2: ID of a payment, 3: transaction */
		$text = sprintf( __( 'Paid: %1$s by payment %2$s. Transaction: %3$s', 'external-payments' ), Money::text( $payment['amount'] ), $payment['id'], self::transaction( $payment ) );
		if ( $order->is_paid() || $order->get_date_paid() ) {
			// By this payment itself, if another request ended before it could record it.
			$is_same = $order->get_transaction_id() === $reference;
			$order->add_order_note( $is_same ? $text : "$text " . __( 'But the order was paid already: return this payment to the customer.', 'external-payments' ) );
			return;
		}
		$held = null;
		if ( Money::cents( $order ) !== $payment['amount'] ) {
			$held = __( 'But this is not the total of the order: decide by hand.', 'external-payments' );
		} elseif ( ! $order->has_status( self::UNPAID ) ) {
			/* translators: %s: status of an order */
			$held = sprintf( __( 'But the order was “%s” by then: decide by hand.', 'external-payments' ), wc_get_order_status_name( $order->get_status() ) );
		}
		if ( null !== $held ) {
			$order->set_transaction_id( $reference );
			$order->save();
			self::move( $order, array( $order->get_status() ), 'on-hold', "$text $held" );
			return;
		}
		if ( ! $order->payment_complete( $reference ) || ! $order->get_date_paid() ) {
			throw new Busy( "order {$order->get_id()} could not be completed" );
		}
		$order->add_order_note( $text );
	}

	/**
	 * Moves an order, with a note.
	 *
	 * @param list<string> $from Statuses that it moves from; from any other, the note alone is added.
	 */
	public static function move( \WC_Order $order, array $from, string $to, string $note ): void {
		if ( $order->has_status( $from ) && ! $order->has_status( $to ) ) {
			$order->update_status( $to, $note );
		} else {
			$order->add_order_note( $note );
		}
	}

	/** @param array<string, mixed> $payment */
	private static function transaction( array $payment ): string {
		return Explorers::link( $payment['transactionHash'] ?? '–', $payment['blockchainId'] );
	}
}
