<?php

declare(strict_types=1);

namespace ExternalPayments;

/** Verifies webhooks (Standard Webhooks). */
final class WebhookVerifier
{
    private const SECRET_PREFIX = 'whsec_';
    private const SIGNATURE_VERSION = 'v1,';
    private const SIGNATURE_BYTES = 32;
    /** More signatures than a rotation produces; any others are ignored. */
    private const SIGNATURES_MAXIMUM = 16;

    /** @var non-empty-list<string> */
    private readonly array $keys;
    /** @var \Closure(): int */
    private readonly \Closure $now;

    /**
     * @param string|list<string> $secret `whsec_…`, as shown at its creation; or several, of which one has to match
     * @param int $tolerance largest difference between the webhook's timestamp and now, in seconds
     * @param (\Closure(): int)|null $now Unix seconds
     *
     * @throws \InvalidArgumentException for a missing or invalid secret
     */
    public function __construct(
        #[\SensitiveParameter]
        string|array $secret,
        private readonly int $tolerance = 300,
        ?\Closure $now = null,
    ) {
        $keys = array_map(self::readSecret(...), array_values((array) $secret));
        if ($keys === []) {
            throw new \InvalidArgumentException('A verifier needs a secret');
        }
        $this->keys = $keys;
        $this->now = $now ?? time(...);
    }

    /** @return array<string, int> what dumps show */
    public function __debugInfo(): array
    {
        return ['tolerance' => $this->tolerance];
    }

    /**
     * Verifies a webhook, then parses it. The same event may be delivered more than once.
     *
     * @param string $body exactly the bytes that were received, `file_get_contents('php://input')`; anything else is
     *     refused in words
     * @param array<string, string|list<string>> $headers of `getallheaders()` or a PSR-7 message, names in any case
     *
     * @return array{id: string, object: 'event', type: string, createdAt: string, data: array<string, mixed>}
     *
     * @throws WebhookException when the service did not send it, or not within the tolerance
     */
    public function verify(mixed $body, array $headers): array
    {
        $headers = array_change_key_case($headers);
        $id = self::readHeader($headers, 'webhook-id');
        $timestamp = self::readHeader($headers, 'webhook-timestamp');
        $signatures = self::readSignatures(self::readHeader($headers, 'webhook-signature'));
        $this->checkTime($timestamp);
        if (!is_string($body)) {
            // A framework has parsed it: written anew, it differs from what was signed.
            throw new WebhookException(
                'body',
                'the body is not the raw bytes that were received: pass those, before a framework parses them',
            );
        }

        $matches = 0;
        foreach ($this->keys as $key) {
            $expected = hash_hmac('sha256', "$id.$timestamp.$body", $key, true);
            // Compares every pair, so that the time does not depend on which one matches.
            foreach ($signatures as $signature) {
                $matches += (int) hash_equals($expected, $signature);
            }
        }
        if ($matches === 0) {
            throw new WebhookException(
                'signature-mismatch',
                'no signature matches: the secret is wrong, or the body is not exactly the bytes received',
            );
        }
        $event = json_decode($body, true);
        if (!is_array($event)) {
            throw new WebhookException('body', 'the body is signed, but is no JSON object');
        }

        return $event;
    }

    private static function readSecret(#[\SensitiveParameter] string $secret): string
    {
        $text = str_starts_with($secret, self::SECRET_PREFIX) ? substr($secret, strlen(self::SECRET_PREFIX)) : $secret;
        $key = base64_decode($text, true);
        // An empty key would let anybody sign. base64_decode skips white space.
        if ($key === false || $key === '' || preg_match('/\s/', $text) === 1) {
            throw new \InvalidArgumentException('A webhook secret is ' . self::SECRET_PREFIX . ' and base64');
        }

        return $key;
    }

    /** @param array<string, string|list<string>> $headers */
    private static function readHeader(array $headers, string $name): string
    {
        $value = $headers[$name] ?? '';
        $value = is_array($value) ? (string) reset($value) : $value;
        if ($value === '') {
            throw new WebhookException($name, "the header $name is missing");
        }

        return $value;
    }

    /** @return non-empty-list<string> */
    private static function readSignatures(string $header): array
    {
        $signatures = [];
        foreach (array_slice(explode(' ', $header), 0, self::SIGNATURES_MAXIMUM) as $part) {
            if (!str_starts_with($part, self::SIGNATURE_VERSION)) {
                continue;
            }
            $signature = base64_decode(substr($part, strlen(self::SIGNATURE_VERSION)), true);
            if ($signature !== false && strlen($signature) === self::SIGNATURE_BYTES) {
                $signatures[] = $signature;
            }
        }
        if ($signatures === []) {
            throw new WebhookException(
                'webhook-signature',
                'the header webhook-signature has no signature of version v1',
            );
        }

        return $signatures;
    }

    private function checkTime(string $timestamp): void
    {
        if (preg_match('/^\d{1,12}$/D', $timestamp) !== 1) {
            throw new WebhookException(
                'webhook-timestamp',
                'the header webhook-timestamp is not an integer of Unix seconds',
            );
        }
        $age = ($this->now)() - (int) $timestamp;
        if (abs($age) <= $this->tolerance) {
            return;
        }
        [$failure, $relation] = $age > 0 ? ['timestamp-too-old', 'before'] : ['timestamp-too-new', 'after'];
        $seconds = abs($age);
        throw new WebhookException(
            $failure,
            "it was sent $seconds s $relation now, but $this->tolerance s are allowed",
        );
    }
}
