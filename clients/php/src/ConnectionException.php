<?php

declare(strict_types=1);

namespace ExternalPayments;

/**
 * There was no response: the service could not be reached, was too slow, or the connection broke.
 *
 * It is unknown whether a creation took effect. Repeat it with the same idempotency key, or look the payment up
 * by its customerReferenceId, before you create it under another key.
 */
final class ConnectionException extends \RuntimeException implements PaymentsException
{
    /** @param int $attempts number of times that the request was sent */
    public function __construct(
        string $method,
        string $path,
        public readonly int $attempts,
        \Throwable $cause,
    ) {
        // Leaves out the query, which may contain references of customers, and the cause itself: its text has the whole
        // URL, and its request the passphrase.
        $path = explode('?', $path, 2)[0];
        parent::__construct("$method $path got no answer: " . get_debug_type($cause));
    }
}
