<?php
/**
 * Plugin Name:          External Payments for WooCommerce
 * Description:          Lets customers pay in cryptocurrencies through your External Payments Service.
 * Version:              0.1.0
 * Requires at least:    6.5
 * Requires PHP:         8.1
 * Requires Plugins:     woocommerce
 * WC requires at least: 8.2
 * WC tested up to:      11.0
 * Text Domain:          external-payments
 * Domain Path:          /languages
 * License:              Proprietary
 * Update URI:           false
 *
 * @package ExternalPayments
 */

declare(strict_types=1);

namespace ExternalPayments\WooCommerce;

defined( 'ABSPATH' ) || exit;

const VERSION = '0.1.0';

/**
 * Loads the plugin's classes, and the library under a name of its own, so that another copy of the library and
 * the PSR interfaces of other plugins stay apart.
 */
spl_autoload_register(
	static function ( string $name ): void {
		$prefix = __NAMESPACE__ . '\\';
		if ( ! str_starts_with( $name, $prefix ) ) {
			return;
		}
		$name = substr( $name, strlen( $prefix ) );
		if ( str_starts_with( $name, 'Library\\' ) ) {
			$file = __DIR__ . '/library/' . substr( $name, strlen( 'Library\\' ) ) . '.php';
		} elseif ( str_starts_with( $name, 'Psr\\' ) ) {
			$file = __DIR__ . '/includes/psr.php';
		} else {
			$file = __DIR__ . '/includes/class-' . strtolower( str_replace( '_', '-', $name ) ) . '.php';
		}
		if ( is_file( $file ) ) {
			require_once $file;
		}
	}
);

add_action(
	'before_woocommerce_init',
	static function (): void {
		$features = \Automattic\WooCommerce\Utilities\FeaturesUtil::class;
		$features::declare_compatibility( 'custom_order_tables', __FILE__ );
		$features::declare_compatibility( 'cart_checkout_blocks', __FILE__ );
	}
);

add_action(
	'init',
	static fn() => load_plugin_textdomain( 'external-payments', false, dirname( plugin_basename( __FILE__ ) ) . '/languages' ),
	1
);

add_action(
	'plugins_loaded',
	static function (): void {
		if ( ! class_exists( 'WooCommerce' ) ) {
			return;
		}
		add_filter( 'woocommerce_payment_gateways', static fn( array $gateways ): array => array( ...$gateways, Gateway::class ) );
		add_action(
			'woocommerce_blocks_payment_method_type_registration',
			static fn( $registry ) => $registry->register( new Blocks( __FILE__ ) )
		);
		add_action( 'woocommerce_api_' . Webhook::ENDPOINT, array( Webhook::class, 'handle' ) );
		add_action( Poll::HOOK, array( Poll::class, 'run' ) );
		add_action( 'action_scheduler_ensure_recurring_actions', array( Poll::class, 'schedule' ) );
		add_filter( 'woocommerce_cancel_unpaid_order', array( Order_Page::class, 'may_cancel' ), 10, 2 );
		add_filter( 'woocommerce_order_actions', array( Order_Page::class, 'add_action' ), 10, 2 );
		add_action( 'woocommerce_order_action_' . Order_Page::ACTION, array( Order_Page::class, 'check' ) );
		// Before WooCommerce decides at 20 whether to empty the cart.
		add_action( 'template_redirect', array( Return_Page::class, 'refresh' ), 5 );
		add_action( 'woocommerce_thankyou_' . Gateway::ID, array( Return_Page::class, 'show' ) );
	}
);

register_deactivation_hook( __FILE__, array( Poll::class, 'unschedule' ) );
