<?php
/**
 * Not now.
 *
 * @package ExternalPayments
 */

declare(strict_types=1);

namespace ExternalPayments\WooCommerce;

defined( 'ABSPATH' ) || exit;

/** The order cannot be changed at the moment; whoever asks again later may succeed. */
final class Busy extends \RuntimeException {
}
