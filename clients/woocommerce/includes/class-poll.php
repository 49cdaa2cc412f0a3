<?php
/**
 * The poll.
 *
 * @package ExternalPayments
 */

declare(strict_types=1);

namespace ExternalPayments\WooCommerce;

use ExternalPayments\WooCommerce\Library\PaymentsException;

defined( 'ABSPATH' ) || exit;

/** Looks up the payments whose end no webhook has told. */
final class Poll {

	public const HOOK = 'external_payments_poll';

	/** Between two regular runs. */
	public const MINUTES = 5;

	private const GROUP = 'external-payments';
	/** Orders a run: a key has 60 requests a minute, which checkouts need as well. */
	private const BATCH = 20;

	/** Makes sure that it runs. */
	public static function schedule(): void {
		if ( ! as_has_scheduled_action( self::HOOK, array(), self::GROUP ) ) {
			as_schedule_recurring_action( time() + self::MINUTES * MINUTE_IN_SECONDS, self::MINUTES * MINUTE_IN_SECONDS, self::HOOK, array(), self::GROUP, true );
		}
	}

	public static function unschedule(): void {
		if ( function_exists( 'as_unschedule_all_actions' ) ) {
			as_unschedule_all_actions( self::HOOK );
		}
	}

	/** @param bool $is_more Whether this is a run between the regular ones. */
	public static function run( $is_more = false ): void {
		if ( ! Settings::are_complete() ) {
			return;
		}
		$ids = wc_get_orders(
			array(
				'limit'        => self::BATCH,
				'return'       => 'ids',
				'type'         => 'shop_order',
				'status'       => Order_Payments::statuses(),
				'orderby'      => 'meta_value_num',
				'order'        => 'ASC',
				'meta_key'     => Order_Payments::DUE_META, // phpcs:ignore WordPress.DB.SlowDBQuery -- Few orders have it.
				'meta_value'   => time(), // phpcs:ignore WordPress.DB.SlowDBQuery
				'meta_compare' => '<=',
				'meta_type'    => 'NUMERIC',
			)
		);
		foreach ( $ids as $id ) {
			try {
				Order_Payments::with( (int) $id, self::check( ... ) );
			} catch ( PaymentsException $error ) {
				// The next order would meet the same.
				Log::error( "poll, order $id", $error );
				return;
			} catch ( \Throwable $error ) {
				Log::error( "poll, order $id", $error );
			}
		}
		if ( count( $ids ) < self::BATCH || $is_more ) {
			return;
		}
		for ( $minute = 1; $minute < self::MINUTES; ++$minute ) {
			as_schedule_single_action( time() + $minute * MINUTE_IN_SECONDS, self::HOOK, array( true ), self::GROUP );
		}
	}

	private static function check( Order_Payments $payments ): void {
		try {
			$payments->refresh();
		} catch ( \Throwable $error ) {
			// Its turn comes again after that of the others.
			$payments->postpone();
			throw $error;
		}
	}
}
