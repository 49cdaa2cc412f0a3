<?php
/**
 * The test of the key.
 *
 * @package ExternalPayments
 */

declare(strict_types=1);

namespace ExternalPayments\WooCommerce;

use ExternalPayments\WooCommerce\Library\ApiException;
use ExternalPayments\WooCommerce\Library\ConnectionException;

defined( 'ABSPATH' ) || exit;

/** Says in words whether the shop can create and read payments, and else what to do. */
final class Key_Test {

	/** Too little to create a payment: a key that may create one is told so. */
	private const CREATION_REFUSED = 'E1001';

	public static function success(): string {
		return sprintf(
			/* translators: %s: host name */
			__( 'The key works: it may create and read payments. Make sure that %s is among the allowed domains in the panel of the service.', 'external-payments' ),
			(string) wp_parse_url( home_url(), PHP_URL_HOST )
		);
	}

	/** What is wrong and what helps; null when nothing is. */
	public static function find_fault(): ?string {
		if ( ! Settings::are_complete() ) {
			return __( 'Enter the address of the service, key ID, secret and passphrase.', 'external-payments' );
		}
		try {
			$client = Settings::client( 1 );
			$client->listPayments( array( 'limit' => 1 ) );
			$client->createPayment( array( 'amount' => 0 ) );
		} catch ( \InvalidArgumentException $error ) {
			return $error->getMessage() . '.';
		} catch ( ConnectionException ) {
			return __( 'The service did not answer. Check its address, and that this server may connect to it.', 'external-payments' );
		} catch ( ApiException $error ) {
			return self::CREATION_REFUSED === $error->errorCode ? null : self::explain( $error );
		}
		return __( 'The service accepted a payment of nothing: this is not the address of an External Payments Service.', 'external-payments' );
	}

	private static function explain( ApiException $error ): string {
		$remedy = match ( $error->errorCode ) {
			'', 'E3001' => __( 'This is no answer of the service. Check its address.', 'external-payments' ),
			'E2002', 'E2003' => __( 'The clock of this server is wrong. Set it by NTP.', 'external-payments' ),
			'E2004' => __( 'There is no such key, or the passphrase belongs to another one. Enter both again.', 'external-payments' ),
			'E2005', 'E2006' => __( 'The key was revoked or has expired. Make a new one in the panel.', 'external-payments' ),
			'E2007' => __( 'The secret is wrong. Enter it again, or rotate the key in the panel.', 'external-payments' ),
			'E2008' => __( 'The account is inactive, or the key is a partner’s. Use the key of a merchant.', 'external-payments' ),
			'E2101' => __( 'The key may not create or not read payments. Make one that may do both.', 'external-payments' ),
			'E2102', 'E2103' => __( 'The account may not take payments by API yet. Ask whoever operates the service.', 'external-payments' ),
			'E9001' => __( 'Too many requests. Try again in a minute.', 'external-payments' ),
			default => $error->detail,
		};
		/* translators: 1: what is wrong and what helps, 2: error code, 3: HTTP status */
		return sprintf( __( 'The key does not work. %1$s (%2$s, HTTP %3$d)', 'external-payments' ), $remedy, '' === $error->errorCode ? '–' : $error->errorCode, $error->status );
	}
}
