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
    $answer = file_get_contents(getenv('MP_URL') . $path, false, $context);
    if ($answer === false) {
        throw new RuntimeException('No answer came.');
    }
    $answer = json_decode($answer, true, flags: JSON_THROW_ON_ERROR);
    if (isset($answer['error'])) {
        throw new RuntimeException("{$answer['error']['errorCode']}: {$answer['error']['message']}");
    }
    return $answer;
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
