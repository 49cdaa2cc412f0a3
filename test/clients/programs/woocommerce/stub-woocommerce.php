<?php

// STUB: stands in for the classes and functions of WooCommerce that the plugin calls, apart from orders.

declare(strict_types=1);

namespace Automattic\WooCommerce\Utilities {
    final class FeaturesUtil
    {
        public static function declare_compatibility(string $feature, string $file): void
        {
        }
    }
}

namespace {
    final class WooCommerce
    {
        public mixed $cart = null;

        public function api_request_url(string $endpoint): string
        {
            return HOME . "/wc-api/$endpoint/";
        }
    }

    function WC(): WooCommerce
    {
        static $shop = new WooCommerce();

        return $shop;
    }

    function get_woocommerce_currency(): string
    {
        return 'USD';
    }

    function is_order_received_page(): bool
    {
        return apply_filters('woocommerce_is_order_received_page', false);
    }

    $notices = [];

    function wc_add_notice(string $text, string $type): void
    {
        global $notices;
        $notices['error'][] = ['notice' => $text];
    }

    function wc_get_notices(string $type): array
    {
        global $notices;

        return $notices[$type] ?? [];
    }

    function wc_clear_notices(): void
    {
        global $notices;
        $notices = [];
    }

    final class Stub_Log
    {
        public function error(string $text): void
        {
            file_put_contents(getenv('STORE') . '/log', "$text\n", FILE_APPEND);
        }
    }

    function wc_get_logger(): Stub_Log
    {
        return new Stub_Log();
    }

    function as_has_scheduled_action(string $hook, array $arguments, string $group): bool
    {
        return isset(stub_read('actions')[$hook]);
    }

    function as_schedule_recurring_action(int $at, int $seconds, string $hook): void
    {
        stub_change('actions', function (array &$actions) use ($seconds, $hook): void {
            $actions[$hook] = $seconds;
        });
    }

    final class WC_Admin_Settings
    {
        private static array $errors = [];
        private static array $messages = [];

        public static function add_message(string $text): void
        {
            self::$messages[] = $text;
        }

        public static function add_error(string $text): void
        {
            self::$errors[] = $text;
        }
    }

    abstract class WC_Payment_Gateway
    {
        public string $id = '';
        public array $settings = [];
        public array $form_fields = [];
        public array $supports = ['products'];
        public bool $has_fields;
        public string $method_title;
        public string $method_description;
        public string $order_button_text;
        public string $title;
        public string $description;

        private function option(): string
        {
            return "woocommerce_{$this->id}_settings";
        }

        public function init_settings(): void
        {
            $this->settings = get_option($this->option(), []);
        }

        public function get_option(string $key): string
        {
            return $this->settings[$key] ?? $this->form_fields[$key]['default'] ?? '';
        }

        public function is_available(): bool
        {
            return ($this->settings['enabled'] ?? '') === 'yes';
        }

        public function get_return_url(?WC_Order $order = null): string
        {
            if ($order === null) {
                return HOME . '/checkout/order-received/';
            }

            return HOME . "/checkout/order-received/{$order->get_id()}/?key={$order->get_order_key()}";
        }

        public function process_admin_options(): bool
        {
            foreach ($this->form_fields as $key => ['type' => $type]) {
                $value = $_POST["woocommerce_{$this->id}_$key"] ?? null;
                $validate = "validate_{$type}_field";
                $this->settings[$key] = match (true) {
                    method_exists($this, $validate) => $this->$validate($key, $value),
                    $type === 'checkbox' => $value === null ? 'no' : 'yes',
                    default => $value ?? '',
                };
            }
            update_option($this->option(), $this->settings);

            return true;
        }

        public function generate_settings_html(array $fields, bool $echo): string
        {
            $html = '';
            foreach ($fields as $key => $data) {
                $generate = "generate_{$data['type']}_html";
                $html .= method_exists($this, $generate)
                    ? $this->$generate($key, $data)
                    : $this->generate_text_html($key, $data);
            }

            return $html;
        }

        public function validate_text_field(string $key, ?string $value): string
        {
            return $value ?? '';
        }

        public function generate_text_html(string $key, array $data): string
        {
            $attributes = '';
            foreach ($data['custom_attributes'] ?? [] as $name => $value) {
                $attributes .= " $name=\"" . esc_attr($value) . '"';
            }
            $disabled = ($data['disabled'] ?? false) ? ' disabled' : '';
            $value = esc_attr($this->get_option($key));

            return "<input type=\"{$data['type']}\" name=\"$key\" value=\"$value\"$attributes$disabled>"
                . ($data['description'] ?? '');
        }

        public function generate_password_html(string $key, array $data): string
        {
            return $this->generate_text_html($key, ['type' => 'password'] + $data);
        }
    }
}
