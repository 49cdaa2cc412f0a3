<?php
/**
 * Never.
 *
 * @package ExternalPayments
 */

declare(strict_types=1);

namespace ExternalPayments\WooCommerce;

defined( 'ABSPATH' ) || exit;

/** The order's total cannot be asked for. */
final class Unpayable extends \RuntimeException {
}
