<?php
/**
 * The payments of an order.
 *
 * @package ExternalPayments
 */

declare(strict_types=1);

namespace ExternalPayments\WooCommerce;

use ExternalPayments\WooCommerce\Library\ApiException;
use ExternalPayments\WooCommerce\Library\PaymentsClient;

defined( 'ABSPATH' ) || exit;

/**
 * What was asked of a customer for an order, under the order's lock: whoever holds it reads the payment and changes
 * the order, so that a webhook, a returning customer and the poll act one after the other, and each payment once.
 */
final class Order_Payments {

	/** Meta: IDs of the order's payments, one a row, by which a webhook finds the order. */
	public const ID_META = '_external_payments_id';
	/** Meta: Unix seconds at which the poll is to look again; absent when nothing is open. */
	public const DUE_META = '_external_payments_due';
	/** Meta: what is known of the payments, and the number in the next idempotency key. */
	private const STATE_META = '_external_payments';
	/** State of an order without payments. */
	private const NONE = array(
		'attempt'  => 0,
		'checked'  => 0,
		'payments' => array(),
	);

	/** Longest wait for the lock in seconds: a webhook is given up after 15. */
	private const LOCK_SECONDS = 8;
	/** How long a payment is looked for that the service does not know with this key. */
	private const MISSING_SECONDS = 30 * DAY_IN_SECONDS;

	/** @var array{order?: int, attempt: int, checked: int, payments: array<string, array{cents: int, url: string, created: int, expires: int, status: string, shortfall?: string}>} */
	private array $state;

	private function __construct( private readonly \WC_Order $order, private readonly PaymentsClient $client ) {
		// From the database: what is recorded there decides what was done already.
		$order->read_meta_data( true );
		$this->state = array_filter( (array) $order->get_meta( self::STATE_META ) ) + self::NONE;
		if ( ( $this->state['order'] ?? $order->get_id() ) !== $order->get_id() ) {
			// A copy of another order, with its payments, which pay for that one alone.
			$this->state = self::NONE;
			$order->delete_meta_data( self::ID_META );
			$this->save();
		}
	}

	/**
	 * Calls with the payments of an order, which nobody else changes meanwhile.
	 *
	 * @template T
	 * @param callable(self): T $act
	 * @return T
	 * @throws Busy When others hold the order, or there is no such order.
	 */
	public static function with( int $order_id, callable $act ): mixed {
		global $wpdb;
		$lock = 'external_payments_' . md5( DB_NAME . $wpdb->prefix . $order_id );
		if ( '1' !== (string) $wpdb->get_var( $wpdb->prepare( 'SELECT GET_LOCK(%s, %d)', $lock, self::LOCK_SECONDS ) ) ) {
			throw new Busy( "order $order_id is in use" );
		}
		try {
			// Forgets what this request has read of the order before it had the lock.
			if ( wp_cache_supports( 'flush_runtime' ) ) {
				wp_cache_flush_runtime();
			}
			$order = wc_get_order( $order_id );
			if ( ! $order instanceof \WC_Order ) {
				throw new Busy( "there is no order $order_id" );
			}
			return $act( new self( $order, Settings::client() ) );
		} finally {
			$wpdb->get_var( $wpdb->prepare( 'SELECT RELEASE_LOCK(%s)', $lock ) );
		}
	}

	/**
	 * All orders, also those in the trash: a payment for one is not to be overlooked.
	 *
	 * @return list<string>
	 */
	public static function statuses(): array {
		return array( ...array_keys( wc_get_order_statuses() ), 'trash' );
	}

	/** ID of the order that a payment was made for. */
	public static function find_order( string $payment_id ): ?int {
		$ids = wc_get_orders(
			array(
				'limit'      => 1,
				'return'     => 'ids',
				'type'       => 'shop_order',
				'status'     => self::statuses(),
				'meta_key'   => self::ID_META, // phpcs:ignore WordPress.DB.SlowDBQuery -- Indexed.
				'meta_value' => $payment_id, // phpcs:ignore WordPress.DB.SlowDBQuery
			)
		);
		return isset( $ids[0] ) ? (int) $ids[0] : null;
	}

	/** Whether the order has a payment that may still be paid, as far as is known. */
	public static function are_open( \WC_Order $order ): bool {
		return '' !== (string) $order->get_meta( self::DUE_META );
	}

	/** Whether too little has arrived for a payment that is still open, as far as is known. */
	public static function are_paid_in_part( \WC_Order $order ): bool {
		$state = (array) $order->get_meta( self::STATE_META );
		return '' !== implode( '', array_column( $state['payments'] ?? array(), 'shortfall' ) );
	}

	/** Whether the service was asked within the last seconds. */
	public function was_checked_within( int $seconds ): bool {
		return time() - $this->state['checked'] < $seconds;
	}

	/**
	 * Where the customer pays: at the payment that the order has, or at a new one.
	 *
	 * @param string $return_url Where the customer comes back to.
	 * @return string|null Null when the order is paid.
	 * @throws Unpayable When the total cannot be asked for.
	 */
	public function checkout_url( string $return_url ): ?string {
		$seen = $this->refresh();
		if ( $this->order->is_paid() ) {
			return null;
		}
		$cents = Money::cents( $this->order );
		if ( null === $cents ) {
			throw new Unpayable( 'the total is not in whole US cents' );
		}
		$url = null;
		foreach ( $this->state['payments'] as $id => $each ) {
			$status = $seen[ $id ] ?? null;
			if ( 'detected' === $status ) {
				// Nothing else is asked for while money is on its way.
				return $each['url'];
			}
			if ( 'pending' === $status && $each['cents'] === $cents && $each['expires'] > time() ) {
				$url = $each['url'];
			}
		}
		return $url ?? $this->create( $cents, $return_url );
	}

	private function create( int $cents, string $return_url ): string {
		$order = $this->order;
		// The same click twice, and a click whose answer was lost, make one payment.
		$key = 'wc-' . substr( md5( home_url() ), 0, 8 ) . "-{$order->get_id()}-$cents-{$this->state['attempt']}";
		try {
			$created = $this->client->createPayment(
				array(
					'amount'              => $cents,
					'customerReferenceId' => (string) $order->get_order_number(),
					'redirectUrl'         => $return_url,
				),
				$key
			);
		} catch ( ApiException $error ) {
			// This key would go on to fail: its failure is stored, or it belongs to another request. The failure of
			// a proxy has no code, and may hide that the payment was created.
			if ( 'E4002' === $error->errorCode || ( $error->status >= 500 && ! $error->retryable && '' !== $error->errorCode ) ) {
				++$this->state['attempt'];
				$this->save();
			}
			throw $error;
		}
		$payment = $created['prompt'];
		++$this->state['attempt'];
		$this->state['payments'][ $payment['id'] ] = array(
			'cents'   => $payment['amount'],
			'url'     => $created['checkoutUrl'],
			'created' => time(),
			'expires' => (int) strtotime( $payment['expiresAt'] ),
			'status'  => 'pending',
		);
		$order->add_meta_data( self::ID_META, $payment['id'] );
		$this->save();
		Poll::schedule();
		/* translators: 1: ID of a payment, 2: amount */
		Outcome::move( $order, array( 'failed' ), 'pending', sprintf( __( 'Payment %1$s of %2$s created.', 'external-payments' ), $payment['id'], Money::text( $cents ) ) );
		return $created['checkoutUrl'];
	}

	/**
	 * Reads every payment that was open when last seen, and does what follows from it.
	 *
	 * @return array<string, string> Their statuses now, by ID, or why one could not be read.
	 */
	public function refresh(): array {
		$seen = array();
		foreach ( $this->state['payments'] as $id => $known ) {
			if ( ! Outcome::is_open( $known['status'] ) ) {
				continue;
			}
			try {
				$payment     = $this->client->getPayment( $id );
				$others      = array_column( array_diff_key( $this->state['payments'], array( $id => 0 ) ), 'status' );
				$seen[ $id ] = Outcome::follow( $this->order, $payment, $known['status'], $others );

				$this->state['payments'][ $id ]['status']    = $seen[ $id ];
				$this->state['payments'][ $id ]['expires']   = (int) strtotime( $payment['expiresAt'] );
				$this->state['payments'][ $id ]['shortfall'] = Outcome::note_shortfall( $this->order, $payment, $known['shortfall'] ?? '' );
			} catch ( ApiException $error ) {
				if ( 'E3001' !== $error->errorCode ) {
					throw $error;
				}
				$seen[ $id ] = $error->getMessage();
				if ( time() - $known['created'] > self::MISSING_SECONDS ) {
					/* translators: %s: ID of a payment */
					$this->order->add_order_note( sprintf( __( 'Payment %s is not known with the API key of this shop, and is no longer looked for.', 'external-payments' ), $id ) );
					$this->state['payments'][ $id ]['status'] = 'missing';
				}
			}
		}
		if ( array() !== $seen ) {
			$this->state['checked'] = time();
			$this->save();
		}
		return $seen;
	}

	/** Looks again later, after a look-up that failed. */
	public function postpone(): void {
		$this->save();
	}

	private function save(): void {
		$open = array_filter( $this->state['payments'], static fn( array $each ): bool => Outcome::is_open( $each['status'] ) );
		if ( array() === $open ) {
			$this->order->delete_meta_data( self::DUE_META );
		} else {
			// By the next run of the poll; after a day every hour, for example while a chain stands still.
			$age   = time() - max( array_column( $open, 'created' ) );
			$pause = $age > DAY_IN_SECONDS ? HOUR_IN_SECONDS : ( Poll::MINUTES - 1 ) * MINUTE_IN_SECONDS;
			$this->order->update_meta_data( self::DUE_META, (string) ( time() + $pause ) );
		}
		$this->order->update_meta_data( self::STATE_META, array( 'order' => $this->order->get_id() ) + $this->state );
		$this->order->save();
	}
}
