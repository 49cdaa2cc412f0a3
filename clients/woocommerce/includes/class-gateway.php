<?php
/**
 * The payment method.
 *
 * @package ExternalPayments
 */

declare(strict_types=1);

namespace ExternalPayments\WooCommerce;

defined( 'ABSPATH' ) || exit;

/** Its settings, and where a customer is sent who chose it. */
final class Gateway extends \WC_Payment_Gateway {

	public const ID = 'external_payments';

	/** Value of the button that saves and then tests. */
	private const TEST = 'external_payments_test';

	public function __construct() {
		$this->id                 = self::ID;
		$this->has_fields         = false;
		$this->method_title       = __( 'External Payments', 'external-payments' );
		$this->method_description = __( 'Customers pay in cryptocurrencies on the page of your payment service, and come back. Orders in US dollars only.', 'external-payments' );
		$this->order_button_text  = __( 'Continue to payment', 'external-payments' );
		$this->init_form_fields();
		$this->init_settings();
		$this->title       = $this->get_option( 'title' );
		$this->description = $this->get_option( 'description' );
		add_action( 'woocommerce_update_options_payment_gateways_' . $this->id, array( $this, 'process_admin_options' ) );
	}

	public function init_form_fields(): void {
		$this->form_fields = array(
			'enabled'        => array(
				'title'   => __( 'Enable/Disable', 'external-payments' ),
				'type'    => 'checkbox',
				'label'   => __( 'Offer this payment method', 'external-payments' ),
				'default' => 'no',
			),
			'title'          => array(
				'title'   => __( 'Title', 'external-payments' ),
				'type'    => 'safe_text',
				'default' => __( 'Cryptocurrency', 'external-payments' ),
			),
			'description'    => array(
				'title'   => __( 'Description', 'external-payments' ),
				'type'    => 'textarea',
				'default' => __( 'Choose a coin on the next page and pay from your wallet.', 'external-payments' ),
			),
			'url'            => array(
				'title'       => __( 'Address of the service', 'external-payments' ),
				'type'        => 'service',
				'placeholder' => 'https://payments.example.com',
			),
			'key_id'         => array(
				'title'       => __( 'Key ID', 'external-payments' ),
				'type'        => 'service',
				'placeholder' => 'mpk_…',
				'description' => __( 'Make a key in the panel of the service, under Developer → API keys, with the permission to create and to read payments.', 'external-payments' ),
			),
			'secret'         => array(
				'title' => __( 'Secret', 'external-payments' ),
				'type'  => 'secret',
			),
			'passphrase'     => array(
				'title' => __( 'Passphrase', 'external-payments' ),
				'type'  => 'secret',
			),
			'webhook_secret' => array(
				'title'       => __( 'Webhook secret', 'external-payments' ),
				'type'        => 'secret',
				/* translators: %s: URL */
				'description' => sprintf( __( 'Add an endpoint with the address %s in the panel, under Developer → Webhooks. Orders are completed without it as well, up to five minutes later.', 'external-payments' ), '<code>' . esc_html( Webhook::url() ) . '</code>' ),
			),
			'test'           => array(
				'title'       => __( 'Test', 'external-payments' ),
				'type'        => 'test',
				'description' => __( 'Saves, and then asks the service for a small payment, as a customer would. Nobody has to pay it.', 'external-payments' ),
			),
		);
	}

	/** Whether something is missing before it can be enabled. */
	public function needs_setup(): bool {
		return ! Settings::are_complete();
	}

	/** Whether it can be offered for any order. */
	public function is_ready(): bool {
		return parent::is_available() && Settings::are_complete() && Money::CURRENCY === get_woocommerce_currency();
	}

	public function is_available(): bool {
		if ( ! $this->is_ready() ) {
			return false;
		}
		$total = WC()->cart ? $this->get_order_total() : 0;
		return 0 >= $total || null !== Money::parse( wc_format_decimal( $total, 2 ) );
	}

	/**
	 * @param int $order_id
	 * @return array<string, string>
	 */
	public function process_payment( $order_id ): array {
		$order = wc_get_order( $order_id );
		try {
			$return_url = $this->get_return_url( $order );
			$url        = Order_Payments::with(
				(int) $order_id,
				static fn( Order_Payments $payments ): ?string => $payments->checkout_url( $return_url )
			);
			return array(
				'result'   => 'success',
				'redirect' => $url ?? $return_url,
			);
		} catch ( Unpayable $error ) {
			$text = __( 'This order cannot be paid with this payment method. Please choose another one.', 'external-payments' );
		} catch ( \Throwable $error ) {
			$text = __( 'The payment could not be started. You have not paid anything. Please try again in a minute.', 'external-payments' );
		}
		Log::error( "checkout, order $order_id", $error );
		wc_add_notice( $text, 'error' );
		return array( 'result' => 'failure' );
	}

	public function admin_options(): void {
		if ( Money::CURRENCY !== get_woocommerce_currency() ) {
			echo '<div class="notice notice-warning inline"><p>' . esc_html__( 'The currency of this shop is not the US dollar: customers are not offered this payment method.', 'external-payments' ) . '</p></div>';
		}
		parent::admin_options();
	}

	/** WooCommerce has checked nonce and capability. */
	public function process_admin_options(): bool {
		$saved = parent::process_admin_options();
		Poll::schedule();
		if ( self::TEST === ( $_POST['save'] ?? '' ) ) { // phpcs:ignore WordPress.Security.NonceVerification
			[ $works, $told ] = Key_Test::run( $this->get_return_url() );
			if ( $works ) {
				\WC_Admin_Settings::add_message( $told );
			} else {
				\WC_Admin_Settings::add_error( $told );
			}
		}
		return $saved;
	}

	/**
	 * A text that a constant may hold.
	 *
	 * @param string               $key
	 * @param array<string, mixed> $data
	 */
	public function generate_service_html( $key, $data ): string {
		// What counts, for this page alone.
		$this->settings[ $key ] = Settings::get( $key );
		return $this->generate_text_html( $key, array( 'type' => 'text' ) + self::explain_constant( $key, $data ) );
	}

	/**
	 * @param string $key
	 * @param mixed  $value
	 */
	public function validate_service_field( $key, $value ): string {
		return trim( $this->validate_text_field( $key, $value ) );
	}

	/**
	 * A field for a secret, which is never shown again.
	 *
	 * @param string               $key
	 * @param array<string, mixed> $data
	 */
	public function generate_secret_html( $key, $data ): string {
		$is_saved                  = null === Settings::constant( $key ) && '' !== Settings::get( $key );
		$data                      = self::explain_constant( $key, $data );
		$data['placeholder']       = $is_saved ? __( 'Saved. Leave empty to keep it.', 'external-payments' ) : '';
		$data['custom_attributes'] = array(
			'autocomplete' => 'off',
			'spellcheck'   => 'false',
		);
		// The setting itself is always empty: the secret is kept elsewhere.
		return $this->generate_password_html( $key, $data );
	}

	/**
	 * @param string $key
	 * @param mixed  $value
	 */
	public function validate_secret_field( $key, #[\SensitiveParameter] $value ): string {
		$value = is_string( $value ) ? trim( wp_unslash( $value ) ) : '';
		if ( '' !== $value && null === Settings::constant( $key ) ) {
			Settings::keep_secret( $key, $value );
		}
		return '';
	}

	/**
	 * @param string               $key
	 * @param array<string, mixed> $data
	 */
	public function generate_test_html( $key, $data ): string {
		return '<tr valign="top"><th scope="row" class="titledesc">' . esc_html( $data['title'] ) . '</th><td class="forminp">'
			. '<button type="submit" name="save" value="' . esc_attr( self::TEST ) . '" class="button">' . esc_html__( 'Save and test', 'external-payments' ) . '</button>'
			. '<p class="description">' . esc_html( $data['description'] ) . '</p></td></tr>';
	}

	/** @param mixed $value */
	public function validate_test_field( $key, $value ): string {
		return '';
	}

	/**
	 * @param array<string, mixed> $data
	 * @return array<string, mixed>
	 */
	private static function explain_constant( string $key, array $data ): array {
		$constant = Settings::constant( $key );
		if ( null !== $constant ) {
			$data['disabled'] = true;
			/* translators: %s: name of a constant */
			$data['description'] = sprintf( __( 'Set in wp-config.php by %s.', 'external-payments' ), "<code>$constant</code>" );
		}
		return $data;
	}
}
