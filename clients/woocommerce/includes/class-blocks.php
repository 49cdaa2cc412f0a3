<?php
/**
 * The block checkout.
 *
 * @package ExternalPayments
 */

declare(strict_types=1);

namespace ExternalPayments\WooCommerce;

use Automattic\WooCommerce\Blocks\Payments\Integrations\AbstractPaymentMethodType;

defined( 'ABSPATH' ) || exit;

/** Offers the payment method in the block checkout, which calls the gateway like the classic one. */
final class Blocks extends AbstractPaymentMethodType {

	/** @var string */
	protected $name = Gateway::ID;

	public function __construct( private string $plugin_file ) {
	}

	public function initialize(): void {
		$this->settings = (array) get_option( 'woocommerce_' . Gateway::ID . '_settings', array() );
	}

	private function gateway(): ?Gateway {
		return WC()->payment_gateways()->payment_gateways()[ Gateway::ID ] ?? null;
	}

	/** Whether the page loads the script: the total may change afterwards, and WooCommerce then asks the gateway. */
	public function is_active(): bool {
		return true === $this->gateway()?->is_ready();
	}

	/** @return list<string> */
	public function get_payment_method_script_handles(): array {
		wp_register_script(
			'external-payments-checkout',
			plugins_url( 'assets/checkout.js', $this->plugin_file ),
			array( 'wc-blocks-registry', 'wc-settings', 'wp-element', 'wp-html-entities' ),
			VERSION,
			true
		);
		return array( 'external-payments-checkout' );
	}

	/** @return array<string, mixed> */
	public function get_payment_method_data(): array {
		$gateway = $this->gateway();
		return array(
			'title'       => $gateway?->get_title(),
			'description' => $gateway?->get_description(),
			'button'      => $gateway?->order_button_text,
			'supports'    => $gateway?->supports,
		);
	}
}
