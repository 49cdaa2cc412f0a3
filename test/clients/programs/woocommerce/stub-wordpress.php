<?php

// STUB: stands in for the functions of WordPress that the plugin calls. Options and orders are files of $STORE, which
// several processes may use at once. It is not WordPress: it escapes, translates and routes nothing more than needed.

declare(strict_types=1);

const ABSPATH = __DIR__ . '/';
const DB_NAME = 'shop';
const MINUTE_IN_SECONDS = 60;
const HOUR_IN_SECONDS = 3600;
const DAY_IN_SECONDS = 86400;
const HOME = 'https://shop.example.test';

$hooks = [];

/** Changes a file of the store, one process after the other; returns what `$change` returns. */
function stub_change(string $name, callable $change): mixed
{
    $file = fopen(getenv('STORE') . "/$name.json", 'c+');
    flock($file, LOCK_EX);
    $data = json_decode(stream_get_contents($file) ?: '[]', true, flags: JSON_THROW_ON_ERROR);
    $result = $change($data);
    ftruncate($file, 0);
    rewind($file);
    fwrite($file, json_encode($data, JSON_THROW_ON_ERROR));
    fclose($file);

    return $result;
}

function stub_read(string $name): array
{
    return stub_change($name, fn (array $data): array => $data);
}

function add_filter(string $hook, callable $callback, int $priority = 10, int $arguments = 1): void
{
    global $hooks;
    $hooks[$hook][] = [$callback, $arguments];
}

function add_action(string $hook, callable $callback, int $priority = 10, int $arguments = 1): void
{
    add_filter($hook, $callback, $priority, $arguments);
}

function apply_filters(string $hook, mixed $value, mixed ...$more): mixed
{
    global $hooks;
    foreach ($hooks[$hook] ?? [] as [$callback, $arguments]) {
        $value = $callback(...array_slice([$value, ...$more], 0, $arguments));
    }

    return $value;
}

function do_action(string $hook, mixed ...$given): void
{
    global $hooks;
    foreach ($hooks[$hook] ?? [] as [$callback, $arguments]) {
        $callback(...array_slice($given, 0, $arguments));
    }
}

function register_deactivation_hook(string $file, callable $callback): void
{
}

function get_option(string $name, mixed $default = false): mixed
{
    return stub_read('options')[$name] ?? $default;
}

function update_option(string $name, mixed $value, bool $autoload = true): void
{
    stub_change('options', function (array &$options) use ($name, $value): void {
        $options[$name] = $value;
    });
}

/** Named locks of the database, as files that are freed when the process ends. */
final class Stub_Database
{
    public string $prefix = 'wp_';
    private array $held = [];

    public function prepare(string $query, mixed ...$values): array
    {
        return [$query, ...$values];
    }

    public function get_var(array $query): ?string
    {
        [$sql, $name] = $query;
        if (str_contains($sql, 'RELEASE_LOCK')) {
            fclose($this->held[$name]);
            unset($this->held[$name]);

            return '1';
        }
        $file = fopen(getenv('STORE') . "/$name.lock", 'c');
        for ($end = microtime(true) + $query[2]; !flock($file, LOCK_EX | LOCK_NB);) {
            if (microtime(true) > $end) {
                return '0';
            }
            usleep(5_000);
        }
        $this->held[$name] = $file;

        return '1';
    }
}
$wpdb = new Stub_Database();

final class WP_Error
{
    public function get_error_message(): string
    {
        return 'no answer';
    }
}

function is_wp_error(mixed $given): bool
{
    return $given instanceof WP_Error;
}

function wp_remote_request(string $url, array $options): array|WP_Error
{
    $headers = [];
    $request = curl_init($url);
    curl_setopt_array($request, [
        CURLOPT_CUSTOMREQUEST => $options['method'],
        CURLOPT_HTTPHEADER => array_map(
            fn (string $name, string $value): string => "$name: $value",
            array_keys($options['headers']),
            $options['headers'],
        ),
        CURLOPT_TIMEOUT => $options['timeout'],
        CURLOPT_PROXY => '',
        CURLOPT_RETURNTRANSFER => true,
        CURLOPT_HEADERFUNCTION => function ($request, string $line) use (&$headers): int {
            [$name, $value] = explode(':', $line, 2) + ['', ''];
            $headers[strtolower($name)] = trim($value);

            return strlen($line);
        },
    ]);
    if ($options['body'] !== null) {
        curl_setopt($request, CURLOPT_POSTFIELDS, $options['body']);
    }
    $body = curl_exec($request);

    return $body === false
        ? new WP_Error()
        : ['code' => curl_getinfo($request, CURLINFO_RESPONSE_CODE), 'headers' => $headers, 'body' => $body];
}

function wp_remote_retrieve_response_code(array $response): int
{
    return $response['code'];
}

function wp_remote_retrieve_header(array $response, string $name): string
{
    return $response['headers'][strtolower($name)] ?? '';
}

function wp_remote_retrieve_body(array $response): string
{
    return $response['body'];
}

function wp_cache_supports(string $feature): bool
{
    return true;
}

function wp_cache_flush_runtime(): void
{
    Stub_Orders::$read = [];
}

function wp_parse_url(string $url, int $component = -1): mixed
{
    return parse_url($url, $component);
}

function home_url(): string
{
    return HOME;
}

function get_query_var(string $name): mixed
{
    return $_GET[$name] ?? '';
}

function wp_unslash(mixed $value): mixed
{
    return is_string($value) ? stripslashes($value) : $value;
}

function sanitize_text_field(string $text): string
{
    return trim(strip_tags($text));
}

function absint(mixed $value): int
{
    return abs((int) $value);
}

function __(string $text): string
{
    return $text;
}

function esc_html(string $text): string
{
    return htmlspecialchars($text, ENT_QUOTES);
}

function esc_html__(string $text): string
{
    return esc_html($text);
}

function esc_attr(string $text): string
{
    return htmlspecialchars($text, ENT_QUOTES);
}

function esc_url(string $url): string
{
    return htmlspecialchars($url, ENT_QUOTES);
}
