<?php

// STUB: stands in for WooCommerce's orders, with its rules where the plugin depends on them: which statuses a payment
// completes, and that an order once read is not read again.

declare(strict_types=1);

final class Stub_Orders
{
    /** @var array<int, WC_Order> orders that this process has read from the database */
    public static array $read = [];
}

final class WC_Order
{
    private array $props;
    private array $meta;
    private array $changed = [];

    public function __construct(private int $id)
    {
        ['props' => $this->props, 'meta' => $this->meta] = stub_read("order-$id");
    }

    public function read_meta_data(bool $force): void
    {
        $this->meta = stub_read("order-$this->id")['meta'];
    }

    public function __call(string $name, array $given): mixed
    {
        [$verb, $prop] = explode('_', $name, 2);
        if ($verb === 'get') {
            return $this->props[$prop] ?? '';
        }
        $this->props[$prop] = $this->changed[$prop] = $given[0];

        return null;
    }

    public function get_id(): int
    {
        return $this->id;
    }

    public function get_order_number(): string
    {
        return (string) $this->id;
    }

    public function key_is_valid(string $key): bool
    {
        return hash_equals($this->props['order_key'], $key);
    }

    public function has_status(array|string $statuses): bool
    {
        return in_array($this->props['status'], (array) $statuses, true);
    }

    public function is_paid(): bool
    {
        return $this->has_status(['processing', 'completed']);
    }

    public function get_meta(string $key): mixed
    {
        return $this->meta[$key][0] ?? '';
    }

    public function add_meta_data(string $key, mixed $value): void
    {
        $this->meta[$key][] = $value;
    }

    public function update_meta_data(string $key, mixed $value): void
    {
        $this->meta[$key] = [$value];
    }

    public function delete_meta_data(string $key): void
    {
        unset($this->meta[$key]);
    }

    public function save(): void
    {
        stub_change("order-$this->id", function (array &$order): void {
            $order['props'] = $this->changed + $order['props'];
            $order['meta'] = $this->meta;
        });
        $this->changed = [];
    }

    public function add_order_note(string $note): void
    {
        stub_change("order-$this->id", function (array &$order) use ($note): void {
            $order['notes'][] = $note;
        });
    }

    public function update_status(string $status, string $note = ''): void
    {
        $this->set_status($status);
        if ($this->is_paid() && $this->get_date_paid() === '') {
            $this->set_date_paid(time());
        }
        $this->save();
        $this->add_order_note($note);
    }

    public function payment_complete(string $transaction): bool
    {
        if ($this->has_status(['on-hold', 'pending', 'failed', 'cancelled'])) {
            $this->set_transaction_id($transaction);
            $this->update_status('processing', "Payment via Cryptocurrency ($transaction).");
        }

        return true;
    }
}

function wc_create_order(): WC_Order
{
    $id = stub_change('orders', function (array &$ids): int {
        return $ids[] = count($ids) + 1;
    });
    stub_change("order-$id", function (array &$order): void {
        $order = ['props' => ['status' => 'pending', 'order_key' => bin2hex(random_bytes(8))], 'meta' => [], 'notes' => []];
    });

    return new WC_Order($id);
}

function wc_get_order(mixed $id): WC_Order|false
{
    if ($id instanceof WC_Order) {
        return $id;
    }
    if (!in_array($id, stub_read('orders'), true)) {
        return false;
    }

    return Stub_Orders::$read[$id] ??= new WC_Order($id);
}

/** The two queries that the plugin makes: orders with a meta, and orders whose meta is at most a number. */
function wc_get_orders(array $query): array
{
    $ids = array_filter(stub_read('orders'), function (int $id) use ($query): bool {
        ['props' => ['status' => $status], 'meta' => $meta] = stub_read("order-$id");
        $values = $meta[$query['meta_key']] ?? [];

        return array_intersect([$status, "wc-$status"], $query['status']) !== []
            && (($query['meta_compare'] ?? '=') === '<='
                ? $values !== [] && $values[0] <= $query['meta_value']
                : in_array($query['meta_value'], $values, true));
    });

    return array_slice(array_values($ids), 0, $query['limit']);
}

function wc_get_order_notes(array $query): array
{
    return array_map(
        fn (string $note): object => (object) ['content' => $note],
        array_reverse(stub_read("order-{$query['order_id']}")['notes']),
    );
}

function wc_get_order_statuses(): array
{
    $names = ['pending', 'processing', 'on-hold', 'completed', 'cancelled', 'refunded', 'failed'];

    return array_combine(array_map(fn (string $name): string => "wc-$name", $names), $names);
}

function wc_get_order_status_name(string $status): string
{
    return ucfirst($status);
}
