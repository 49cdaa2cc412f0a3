<?php

declare(strict_types=1);

namespace ExternalPayments;

use Psr\Http\Client\ClientExceptionInterface;
use Psr\Http\Client\ClientInterface;
use Psr\Http\Message\RequestInterface;
use Psr\Http\Message\ResponseInterface;

/**
 * Sends a request until it has an answer.
 *
 * A request that might execute twice is never repeated. A refusal (4xx) has executed nothing and is retried when
 * X-MP-Should-Retry is `true`. A failure (5xx) or a missing response is retried only for reads and for writes
 * with an idempotency key. A response that asks for a longer wait than RETRY_AFTER_MAXIMUM_SECONDS is returned.
 *
 * @internal
 */
final class Attempts
{
    private const BACKOFF_FIRST_SECONDS = 0.5;
    private const BACKOFF_MAXIMUM_SECONDS = 8.0;
    /** Longest Retry-After that is waited for: the default window of the rate limit. */
    private const RETRY_AFTER_MAXIMUM_SECONDS = 60;
    /** Statuses of a proxy that cannot reach the service. Its responses have no X-MP-Should-Retry. */
    private const PROXY_FAILURES = [429, 502, 503, 504];

    /**
     * @param string $origin scheme and host that requests are sent to
     * @param \Closure(float): void $sleep takes seconds
     */
    public function __construct(
        private readonly ClientInterface $http,
        private readonly string $origin,
        private readonly int $maximum,
        private readonly \Closure $sleep,
    ) {
    }

    /**
     * @param \Closure(): RequestInterface $prepare makes the request of an attempt, with a new signature
     * @param bool $repeatable whether the service executes it once, however often it arrives
     *
     * @throws ConnectionException when the last attempt got no response
     */
    public function send(\Closure $prepare, bool $repeatable): ResponseInterface
    {
        for ($attempt = 1;; ++$attempt) {
            $last = $attempt >= $this->maximum;
            $request = $prepare();
            try {
                $response = $this->http->sendRequest($request);
            } catch (ClientExceptionInterface $error) {
                if ($last || !$repeatable) {
                    $url = $this->origin . $request->getRequestTarget();
                    throw new ConnectionException($request->getMethod(), $url, $attempt, $error);
                }
                ($this->sleep)(self::backoff($attempt));
                continue;
            }
            $wait = self::retryAfter($response);
            $tooLong = $wait !== null && $wait > self::RETRY_AFTER_MAXIMUM_SECONDS;
            if ($last || $tooLong || !self::mayRetry($response, $repeatable)) {
                return $response;
            }
            ($this->sleep)($wait ?? self::backoff($attempt));
        }
    }

    /** Retry-After in seconds; null when it is missing or a date, which the service never sends. */
    public static function retryAfter(ResponseInterface $response): ?int
    {
        $text = $response->getHeaderLine('Retry-After');

        return preg_match('/^\d{1,9}$/D', $text) === 1 ? (int) $text : null;
    }

    private static function mayRetry(ResponseInterface $response, bool $repeatable): bool
    {
        $status = $response->getStatusCode();
        if (!$response->hasHeader('X-MP-Should-Retry')) {
            return $repeatable && in_array($status, self::PROXY_FAILURES, true);
        }

        return $response->getHeaderLine('X-MP-Should-Retry') === 'true' && ($repeatable || $status < 500);
    }

    /** Exponential backoff in seconds. Half of it is random, so that clients do not retry at the same time. */
    private static function backoff(int $attempt): float
    {
        $full = min(self::BACKOFF_FIRST_SECONDS * 2 ** ($attempt - 1), self::BACKOFF_MAXIMUM_SECONDS);

        return $full / 2 + mt_rand() / mt_getrandmax() * $full / 2;
    }
}
