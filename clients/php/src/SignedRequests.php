<?php

declare(strict_types=1);

namespace ExternalPayments;

use Psr\Http\Message\RequestFactoryInterface;
use Psr\Http\Message\RequestInterface;
use Psr\Http\Message\StreamFactoryInterface;

/**
 * Makes requests to the service, each with a signature of its own.
 *
 * @internal
 */
final class SignedRequests
{
    private readonly string $baseUrl;

    /**
     * @param \Closure(): int $now Unix seconds
     *
     * @throws \InvalidArgumentException for an invalid base URL
     */
    public function __construct(
        string $baseUrl,
        private readonly Credentials $credentials,
        private readonly RequestFactoryInterface $requests,
        private readonly StreamFactoryInterface $streams,
        private readonly \Closure $now,
    ) {
        if (preg_match('~^https?://[^/?#@\s]+(/[^?#\s]*)?$~D', $baseUrl) !== 1) {
            throw new \InvalidArgumentException(
                'The base URL must be an http or https URL without user, query and fragment, for example https://payments.example.com',
            );
        }
        $this->baseUrl = rtrim($baseUrl, '/');
    }

    /** A request with a new signature. */
    public function prepare(string $method, string $path, ?string $body, ?string $idempotencyKey): RequestInterface
    {
        if (!str_starts_with($path, '/')) {
            throw new \InvalidArgumentException('A path starts with /');
        }
        $request = $this->requests->createRequest($method, $this->baseUrl . $path);
        if ($body !== null) {
            $request = $request
                ->withHeader('Content-Type', 'application/json')
                ->withBody($this->streams->createStream($body));
        }
        if ($idempotencyKey !== null) {
            $request = $request->withHeader('Idempotency-Key', $idempotencyKey);
        }
        // Signs what is sent, which may be encoded differently from the path given, and without the proxy's prefix.
        $prefix = rtrim($this->requests->createRequest($method, $this->baseUrl)->getUri()->getPath(), '/');
        $target = substr($request->getRequestTarget(), strlen($prefix));
        $headers = $this->credentials->sign($method, $target, $body ?? '', ($this->now)(), bin2hex(random_bytes(16)));
        foreach ($headers as $name => $value) {
            $request = $request->withHeader($name, $value);
        }

        return $request;
    }
}
