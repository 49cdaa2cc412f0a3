<?php
// Start it with: php -S 127.0.0.1:8080 hooks.php

function isGenuine(string $body, string $key): bool
{
    // Of the bytes as received, before they are parsed.
    $id = $_SERVER['HTTP_WEBHOOK_ID'] ?? '';
    $timestamp = $_SERVER['HTTP_WEBHOOK_TIMESTAMP'] ?? '';
    if (!ctype_digit($timestamp) || abs(time() - (int) $timestamp) > 300) {
        return false;
    }
    $expected = 'v1,' . base64_encode(hash_hmac('sha256', "$id.$timestamp.$body", $key, true));
    foreach (explode(' ', $_SERVER['HTTP_WEBHOOK_SIGNATURE'] ?? '') as $signature) {
        if (hash_equals($expected, $signature)) {
            return true;
        }
    }
    return false;
}

$secret = (string) getenv('WEBHOOK_SECRET');
$key = str_starts_with($secret, 'whsec_') ? base64_decode(substr($secret, 6), true) : false;
if (!$key) {
    // An empty key would let anybody sign.
    http_response_code(500);
    exit('WEBHOOK_SECRET is not set');
}
$body = file_get_contents('php://input');
if (!isGenuine($body, $key)) {
    http_response_code(400);
    exit;
}
$event = json_decode($body, true, flags: JSON_THROW_ON_ERROR);
error_log("{$event['id']} {$event['type']} {$event['data']['id']}"); // act once on each id
http_response_code(204);
