<?php
/**
 * The body of a message.
 *
 * @package ExternalPayments
 */

declare(strict_types=1);

namespace ExternalPayments\WooCommerce;

use ExternalPayments\WooCommerce\Psr\Http\Message\StreamInterface;

defined( 'ABSPATH' ) || exit;

/** A text in memory. */
final class Http_Text implements StreamInterface {

	public function __construct( private string $text ) {
	}

	public function __toString(): string {
		return $this->text;
	}
}
