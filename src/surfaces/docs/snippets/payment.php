<?php
// Needs MP_URL, MP_KEY_ID, MP_SECRET and MP_PASSPHRASE in the environment.
function call(string $method, string $path, string $body = '', array $headers = []): array
{
    $timestamp = (string) time();
    $nonce = bin2hex(random_bytes(16));
    $canonical = implode("\n", [$timestamp, $nonce, $method, $path, $body]);
    $context = stream_context_create(['http' => [
        'method' => $method,
        'header' => [
            'X-MP-KEY-ID: ' . getenv('MP_KEY_ID'),
            'X-MP-PASSPHRASE: ' . getenv('MP_PASSPHRASE'),
            'X-MP-TIMESTAMP: ' . $timestamp,
            'X-MP-NONCE: ' . $nonce,
            'X-MP-SIGNATURE: ' . hash_hmac('sha256', $canonical, getenv('MP_SECRET')),
            'Content-Type: application/json',
            ...$headers,
        ],
        'content' => $body,
        'timeout' => 30,
        'ignore_errors' => true,
    ]]);
    $response = file_get_contents(getenv('MP_URL') . $path, false, $context);
    if ($response === false) {
        throw new RuntimeException('There was no response.');
    }
    $response = json_decode($response, true, flags: JSON_THROW_ON_ERROR);
    if (isset($response['error'])) {
        throw new RuntimeException("{$response['error']['errorCode']}: {$response['error']['message']}");
    }
    return $response;
}

$created = call(
    'POST',
    '/external/v1/payments/prompt',
    json_encode(['amount' => 5000, 'customerReferenceId' => 'order-1001']),
    ['Idempotency-Key: order-1001'],
);
echo 'Send the customer to ', $created['checkoutUrl'], "\n";

$payment = call('GET', '/external/v1/payments/' . $created['prompt']['id']);
echo $payment['id'], ' ', $payment['status'], "\n";
