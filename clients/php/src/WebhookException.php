<?php

declare(strict_types=1);

namespace ExternalPayments;

/** The webhook must not be processed: respond with 400 and do nothing. */
final class WebhookException extends \RuntimeException implements PaymentsException
{
    /**
     * @param string $failure what is invalid: `webhook-id`, `webhook-timestamp`, `timestamp-too-old`,
     *     `timestamp-too-new`, `webhook-signature`, `signature-mismatch` or `body`
     */
    public function __construct(public readonly string $failure, string $message)
    {
        parent::__construct($message);
    }
}
