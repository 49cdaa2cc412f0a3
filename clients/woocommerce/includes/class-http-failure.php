<?php
/**
 * A request without a response.
 *
 * @package ExternalPayments
 */

declare(strict_types=1);

namespace ExternalPayments\WooCommerce;

use ExternalPayments\WooCommerce\Psr\Http\Client\ClientExceptionInterface;

defined( 'ABSPATH' ) || exit;

/** Its message is that of WordPress. */
final class Http_Failure extends \RuntimeException implements ClientExceptionInterface {
}
