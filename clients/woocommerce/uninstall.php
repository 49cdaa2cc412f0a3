<?php
/**
 * Deletes settings and secrets. What orders were paid by stays with the orders.
 *
 * @package ExternalPayments
 */

defined( 'WP_UNINSTALL_PLUGIN' ) || exit;

delete_option( 'woocommerce_external_payments_settings' );
delete_option( 'external_payments_secrets' );
