<?php

declare(strict_types=1);

namespace ExternalPayments;

/** An API key, as shown at its creation. */
final class Credentials
{
    /** @throws \InvalidArgumentException when one of them is empty or has white space, such as the end of a line */
    public function __construct(
        public readonly string $keyId,
        #[\SensitiveParameter]
        private readonly string $secret,
        #[\SensitiveParameter]
        private readonly string $passphrase,
    ) {
        foreach ([$keyId, $secret, $passphrase] as $part) {
            if (preg_match('/\A[\x21-\x7E]+\z/', $part) !== 1) {
                throw new \InvalidArgumentException('A key ID, secret and passphrase are visible ASCII without spaces');
            }
        }
    }

    /**
     * The five signing headers of a request.
     *
     * @param string $method upper-case HTTP method
     * @param string $target path with its query, exactly as sent
     * @param string $body exactly the bytes that are sent; empty without a body
     * @param int $timestamp Unix seconds
     * @param string $nonce 1 to 255 visible ASCII characters, new for every request, retries included
     *
     * @return array<string, string>
     */
    public function sign(string $method, string $target, string $body, int $timestamp, string $nonce): array
    {
        $canonical = "$timestamp\n$nonce\n$method\n$target\n$body";

        return [
            'X-MP-KEY-ID' => $this->keyId,
            'X-MP-PASSPHRASE' => $this->passphrase,
            'X-MP-TIMESTAMP' => (string) $timestamp,
            'X-MP-NONCE' => $nonce,
            'X-MP-SIGNATURE' => hash_hmac('sha256', $canonical, $this->secret),
        ];
    }

    /** @return array<string, string> what dumps show */
    public function __debugInfo(): array
    {
        return ['keyId' => $this->keyId];
    }
}
