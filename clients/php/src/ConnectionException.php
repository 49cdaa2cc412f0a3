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
    /**
     * @param string $url with its query
     * @param int $attempts number of times that the request was sent
     */
    public function __construct(string $method, string $url, public readonly int $attempts, \Throwable $cause)
    {
        // Leaves out the query, which may contain references of customers, and the cause itself, whose request has the
        // passphrase.
        [$place, $query] = explode('?', $url, 2) + [1 => ''];
        // Most HTTP clients end their reason with the URL.
        $url = preg_quote($url, '~');
        $reason = preg_replace("~( \\(see \\S+\\))?( for)? ?\"?$url\"?~", '', $cause->getMessage()) ?? '';
        foreach (array_filter([$query, rawurldecode($query)]) as $private) {
            $reason = str_contains($reason, $private) ? '' : $reason;
        }
        parent::__construct("$method $place got no answer: " . ($reason ?: get_debug_type($cause)));
    }
}
