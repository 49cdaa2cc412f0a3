<?php
/**
 * The test of the settings.
 *
 * @package ExternalPayments
 */

declare(strict_types=1);

namespace ExternalPayments\WooCommerce;

use ExternalPayments\WooCommerce\Library\ApiException;
use ExternalPayments\WooCommerce\Library\ConnectionException;

defined( 'ABSPATH' ) || exit;

/**
 * Says in words whether orders can be paid, and else what to do. It asks for a payment as an order does: only then
 * does the service look at the shop's domain, and for addresses.
 */
final class Key_Test {

	/** The least that the service takes, in cents. */
	private const CENTS = 50;
	/** Refusals of a key that works: something else is missing. */
	private const SETUP = array( 'E1010', 'E1011', 'E1012', 'E1020', 'E1030' );

	/**
	 * @param string $return_url Where customers come back to.
	 * @return array{bool, string} Whether orders can be paid, and what to tell.
	 */
	public static function run( string $return_url ): array {
		if ( ! Settings::are_complete() ) {
			return array( false, __( 'Enter the address of the service, key ID, secret and passphrase.', 'external-payments' ) );
		}
		$unscoped = __( 'The key may not read payments. Make one that may create and read them.', 'external-payments' );
		try {
			$client = Settings::client( 1 );
			$client->listPayments( array( 'limit' => 1 ) );
			$unscoped = __( 'The key may not create payments. Make one that may create and read them.', 'external-payments' );
			$created  = $client->createPayment(
				array(
					'amount'              => self::CENTS,
					'customerReferenceId' => 'test',
					'redirectUrl'         => $return_url,
				)
			);
		} catch ( \InvalidArgumentException $error ) {
			return array( false, $error->getMessage() . '.' );
		} catch ( ConnectionException ) {
			return array( false, __( 'The service did not answer. Check its address, and that this server may connect to it.', 'external-payments' ) );
		} catch ( ApiException $error ) {
			$remedy = 'E2101' === $error->errorCode ? $unscoped : self::explain( $error, $return_url );
			return array( false, self::tell( $error, $remedy ) );
		}
		/* translators: 1: amount, 2: URL */
		return array( true, sprintf( __( 'The key works, and orders can be paid. For this test a payment of %1$s was made, which nobody has to pay and which expires by itself. Its page is what customers see: %2$s', 'external-payments' ), Money::text( self::CENTS ), $created['checkoutUrl'] ) );
	}

	private static function tell( ApiException $error, string $remedy ): string {
		$told = in_array( $error->errorCode, self::SETUP, true )
			/* translators: 1: what is wrong and what helps, 2: error code, 3: HTTP status */
			? __( 'The key works, but orders cannot be paid yet. %1$s (%2$s, HTTP %3$d)', 'external-payments' )
			/* translators: 1: what is wrong and what helps, 2: error code, 3: HTTP status */
			: __( 'The key does not work. %1$s (%2$s, HTTP %3$d)', 'external-payments' );
		return sprintf( $told, $remedy, '' === $error->errorCode ? '–' : $error->errorCode, $error->status );
	}

	private static function explain( ApiException $error, string $return_url ): string {
		$host = (string) wp_parse_url( $return_url, PHP_URL_HOST );
		return match ( $error->errorCode ) {
			/* translators: %s: host name */
			'E1010', 'E1012' => sprintf( __( 'Customers could not come back: allow the domain %s in the panel, under Settings → Domains.', 'external-payments' ), $host ),
			/* translators: %s: URL */
			'E1011' => sprintf( __( 'Customers could not come back: the address of this shop must begin with https://, and it is %s.', 'external-payments' ), $return_url ),
			'E1020' => __( 'There is nowhere to pay to: set an address on a network that is offered, in the panel under Settings → Addresses.', 'external-payments' ),
			'E1030' => __( 'The account is not set up completely. Ask whoever operates the service.', 'external-payments' ),
			'', 'E3001' => __( 'This is no answer of the service. Check its address.', 'external-payments' ),
			'E2002', 'E2003' => __( 'The clock of this server is wrong. Set it by NTP.', 'external-payments' ),
			'E2004' => __( 'There is no such key, or the passphrase belongs to another one. Enter both again.', 'external-payments' ),
			'E2005', 'E2006' => __( 'The key was revoked or has expired. Make a new one in the panel.', 'external-payments' ),
			'E2007' => __( 'The secret is wrong. Enter it again, or rotate the key in the panel.', 'external-payments' ),
			'E2008' => __( 'The account is inactive, or the key is a partner’s. Use the key of a merchant.', 'external-payments' ),
			'E2102', 'E2103' => __( 'The account may not take payments by API yet. Ask whoever operates the service.', 'external-payments' ),
			'E9001' => __( 'Too many requests. Try again in a minute.', 'external-payments' ),
			default => $error->detail,
		};
	}
}
