<?php

// Executes in a shop the actions that it reads, one JSON document per line, and prints their results. The shop is
// WordPress with WooCommerce and the plugin, whose wp-load.php WORDPRESS names; without it, the stubs in this folder.

declare(strict_types=1);

use ExternalPayments\WooCommerce\Explorers;
use ExternalPayments\WooCommerce\Gateway;
use ExternalPayments\WooCommerce\Order_Page;
use ExternalPayments\WooCommerce\Order_Payments;
use ExternalPayments\WooCommerce\Poll;
use ExternalPayments\WooCommerce\Return_Page;
use ExternalPayments\WooCommerce\Webhook;

$wordpress = getenv('WORDPRESS');
foreach (json_decode(getenv('CONSTANTS') ?: '[]', true) as $name => $value) {
    define($name, $value);
}
if ($wordpress === false) {
    require __DIR__ . '/stub-wordpress.php';
    require __DIR__ . '/stub-woocommerce.php';
    require __DIR__ . '/stub-orders.php';
    require getenv('PLUGIN');
    do_action('before_woocommerce_init');
    do_action('plugins_loaded');
} else {
    $_SERVER += ['HTTP_HOST' => 'shop.example.test', 'REQUEST_URI' => '/', 'REQUEST_METHOD' => 'GET'];
    require $wordpress;
    require_once WC_ABSPATH . 'includes/admin/class-wc-admin-settings.php';
    wc_load_cart();
}
add_filter('woocommerce_is_order_received_page', fn (): bool => true);
// The orders have no goods, so there is nothing to process.
add_filter('woocommerce_payment_complete_order_status', fn (): string => 'processing');

/** An order as it is in the database. */
function look(int $id): array
{
    wp_cache_flush_runtime();
    $order = wc_get_order($id);

    return [
        'status' => $order->get_status(),
        'transaction' => $order->get_transaction_id(),
        'isOpen' => Order_Payments::are_open($order),
        'notes' => array_map(fn (object $note): string => $note->content, wc_get_order_notes(['order_id' => $id])),
    ];
}

function create_order(array $given): int
{
    $order = wc_create_order();
    $order->set_payment_method(Gateway::ID);
    $order->set_payment_method_title('Cryptocurrency');
    $order->set_currency($given['currency'] ?? 'USD');
    $order->set_total($given['total']);
    $order->save();

    return $order->get_id();
}

/** Copies an order, as plugins that duplicate orders do. */
function copy_order(int $id): int
{
    $order = wc_get_order($id);
    $copy = create_order(['total' => $order->get_total()]);
    $made = wc_get_order($copy);
    foreach ([Order_Payments::ID_META, Order_Payments::DUE_META, '_external_payments'] as $key) {
        $made->update_meta_data($key, $order->get_meta($key));
    }
    $made->save();

    return $copy;
}

/** The settings form, as a browser sends it. */
function save_settings(array $given): array
{
    $_POST = ['save' => $given['button']];
    foreach ($given['fields'] as $name => $value) {
        $_POST['woocommerce_' . Gateway::ID . "_$name"] = $value;
    }
    $gateway = new Gateway();
    $gateway->process_admin_options();
    $said = [];
    foreach (['errors', 'messages'] as $kind) {
        $property = new ReflectionProperty(WC_Admin_Settings::class, $kind);
        $said = [...$said, ...$property->getValue()];
        $property->setValue(null, []);
    }

    return ['said' => $said, 'html' => (new Gateway())->generate_settings_html($gateway->form_fields, false)];
}

function pay(int $id): array
{
    wc_clear_notices();
    $result = (new Gateway())->process_payment($id);

    return $result + ['notices' => array_column(wc_get_notices('error'), 'notice')];
}

function come_back(array $given): array
{
    $order = wc_get_order($given['order']);
    $_GET = ['key' => $given['key'] ?? $order->get_order_key(), 'status' => 'successful', 'order-received' => $given['order']];
    if (function_exists('set_query_var')) {
        set_query_var('order-received', $given['order']);
    }
    Return_Page::refresh();
    ob_start();
    Return_Page::show($given['order']);

    return ['html' => ob_get_clean()] + look($given['order']);
}

/** Makes all orders due, as if minutes had passed, and runs the poll. */
function poll(array $given): array
{
    foreach ($given['orders'] as $id) {
        $order = wc_get_order($id);
        if (Order_Payments::are_open($order)) {
            $order->update_meta_data(Order_Payments::DUE_META, '1');
            $order->save();
        }
    }
    Poll::run();

    return ['scheduled' => as_has_scheduled_action(Poll::HOOK, [], 'external-payments')];
}

function change(array $given): array
{
    $order = wc_get_order($given['order']);
    if (isset($given['total'])) {
        $order->set_total($given['total']);
        $order->save();
    }
    if (isset($given['status'])) {
        $order->update_status($given['status']);
    }

    return look($given['order']);
}

while (($line = fgets(STDIN)) !== false) {
    $given = json_decode($line, true, flags: JSON_THROW_ON_ERROR);
    $answer = match ($given['do']) {
        'settings' => save_settings($given),
        'order' => ['id' => create_order($given)],
        'copy' => ['id' => copy_order($given['order'])],
        'pay' => pay($given['order']),
        'come back' => come_back($given),
        'webhook' => ['status' => Webhook::receive($given['body'], $given['headers'])],
        'poll' => poll($given),
        'check' => [Order_Page::check(wc_get_order($given['order']))],
        'look' => look($given['order']),
        'change' => change($given),
        'may cancel' => ['may' => apply_filters('woocommerce_cancel_unpaid_order', true, wc_get_order($given['order']))],
        'link' => ['html' => Explorers::link('0xabc', $given['network'])],
        'is available' => ['is' => (new Gateway())->is_available()],
    };
    echo json_encode($answer, JSON_THROW_ON_ERROR | JSON_UNESCAPED_UNICODE), "\n";
}
