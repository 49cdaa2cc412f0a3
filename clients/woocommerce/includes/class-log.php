<?php
/**
 * The log.
 *
 * @package ExternalPayments
 */

declare(strict_types=1);

namespace ExternalPayments\WooCommerce;

use ExternalPayments\WooCommerce\Library\ApiException;

defined( 'ABSPATH' ) || exit;

/** WooCommerce → Status → Logs. */
final class Log {

	public static function error( string $what, \Throwable $error ): void {
		$text = $error instanceof ApiException
			? "{$error->getMessage()} (request {$error->requestId})"
			: get_class( $error ) . ': ' . $error->getMessage();
		wc_get_logger()->error( "$what: $text", array( 'source' => 'external-payments' ) );
	}
}
