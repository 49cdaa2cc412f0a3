<?php
/**
 * Amounts.
 *
 * @package ExternalPayments
 */

declare(strict_types=1);

namespace ExternalPayments\WooCommerce;

defined( 'ABSPATH' ) || exit;

/** US cents, never floats. */
final class Money {

	public const CURRENCY = 'USD';
	/** Limits of the service, in cents. */
	private const MINIMUM = 50;
	private const MAXIMUM = 100_000_000;

	/** The order's total in cents; null for another currency, parts of a cent, and what the service does not take. */
	public static function cents( \WC_Order $order ): ?int {
		return self::CURRENCY === $order->get_currency() ? self::parse( (string) $order->get_total( 'edit' ) ) : null;
	}

	/** Cents of a decimal number of dollars, as `cents`. */
	public static function parse( string $dollars ): ?int {
		if ( 1 !== preg_match( '/^(\d{1,9})(?:\.(\d{1,2})0*)?$/D', $dollars, $parts ) ) {
			return null;
		}
		$cents = (int) ( $parts[1] . str_pad( $parts[2] ?? '', 2, '0' ) );
		return $cents >= self::MINIMUM && $cents <= self::MAXIMUM ? $cents : null;
	}

	/** For people. */
	public static function text( int $cents ): string {
		return sprintf( '$%d.%02d', intdiv( $cents, 100 ), $cents % 100 );
	}
}
