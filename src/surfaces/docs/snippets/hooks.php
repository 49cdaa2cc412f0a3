<?php

use ExternalPayments\WebhookException;
use ExternalPayments\WebhookVerifier;

require __DIR__ . '/vendor/autoload.php';

http_response_code(500); // unless all of this ends well
$verifier = new WebhookVerifier((string) getenv('WEBHOOK_SECRET'));
try {
    // The bytes as received, before anything parses them.
    $event = $verifier->verify(file_get_contents('php://input'), getallheaders());
} catch (WebhookException $error) {
    http_response_code(400);
    exit($error->getMessage());
}
// Act once on each id.
error_log("{$event['id']} {$event['type']} {$event['data']['id']}");
http_response_code(204);
