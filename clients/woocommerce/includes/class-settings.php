<?php
/**
 * How the shop reaches the service.
 *
 * @package ExternalPayments
 */

declare(strict_types=1);

namespace ExternalPayments\WooCommerce;

use ExternalPayments\WooCommerce\Library\Credentials;
use ExternalPayments\WooCommerce\Library\PaymentsClient;

defined( 'ABSPATH' ) || exit;

/**
 * A constant of wp-config.php wins over the database. Secrets have an option of their own: WooCommerce's REST API
 * shows the settings of a gateway.
 */
final class Settings {

	public const SECRETS_OPTION = 'external_payments_secrets';

	/** Each setting and its constant. */
	private const CONSTANTS = array(
		'url'            => 'EXTERNAL_PAYMENTS_URL',
		'key_id'         => 'EXTERNAL_PAYMENTS_KEY_ID',
		'secret'         => 'EXTERNAL_PAYMENTS_SECRET',
		'passphrase'     => 'EXTERNAL_PAYMENTS_PASSPHRASE',
		'webhook_secret' => 'EXTERNAL_PAYMENTS_WEBHOOK_SECRET',
	);
	private const SECRETS   = array( 'secret', 'passphrase', 'webhook_secret' );

	/** Longest pause before another attempt, in seconds: a customer waits meanwhile. */
	private const PAUSE_MAXIMUM = 5.0;

	/** Where a service is on the shop's own machine. */
	private const OWN_HOSTS = array( '127.0.0.1', '[::1]', 'localhost' );

	/** The constant's name, when it is defined. */
	public static function constant( string $name ): ?string {
		$constant = self::CONSTANTS[ $name ] ?? null;
		return null !== $constant && defined( $constant ) ? $constant : null;
	}

	/** The setting's value; empty when it is not set. */
	public static function get( string $name ): string {
		$constant = self::constant( $name );
		if ( null !== $constant ) {
			return trim( (string) constant( $constant ) );
		}
		$option = in_array( $name, self::SECRETS, true ) ? self::SECRETS_OPTION : 'woocommerce_' . Gateway::ID . '_settings';
		return trim( (string) ( ( (array) get_option( $option, array() ) )[ $name ] ?? '' ) );
	}

	/** Keeps a secret, which no page loads that does not need it. */
	public static function keep_secret( string $name, #[\SensitiveParameter] string $value ): void {
		$secrets          = (array) get_option( self::SECRETS_OPTION, array() );
		$secrets[ $name ] = $value;
		update_option( self::SECRETS_OPTION, $secrets, false );
	}

	/** Whether payments can be created. */
	public static function are_complete(): bool {
		foreach ( array( 'url', 'key_id', 'secret', 'passphrase' ) as $name ) {
			if ( '' === self::get( $name ) ) {
				return false;
			}
		}
		return true;
	}

	/**
	 * The library's client.
	 *
	 * @param int $attempts Maximum attempts for each call.
	 * @throws \InvalidArgumentException For an invalid address or key, and for an address that others can listen to or
	 *                                   answer for.
	 */
	public static function client( int $attempts = 2 ): PaymentsClient {
		$url = self::get( 'url' );
		if ( 'http' === wp_parse_url( $url, PHP_URL_SCHEME ) && ! in_array( wp_parse_url( $url, PHP_URL_HOST ), self::OWN_HOSTS, true ) ) {
			throw new \InvalidArgumentException( 'The address must begin with https://, except on this machine' );
		}
		$http  = new Http_Client();
		$sleep = static function ( float $seconds ): void {
			usleep( (int) ( min( $seconds, self::PAUSE_MAXIMUM ) * 1_000_000 ) );
		};
		return new PaymentsClient(
			$url,
			new Credentials( self::get( 'key_id' ), self::get( 'secret' ), self::get( 'passphrase' ) ),
			$http,
			$http,
			$http,
			$attempts,
			null,
			$sleep
		);
	}
}
