<?php

declare(strict_types=1);

namespace ExternalPayments;

use Psr\Http\Client\ClientInterface;
use Psr\Http\Message\RequestFactoryInterface;
use Psr\Http\Message\RequestInterface;
use Psr\Http\Message\ResponseInterface;
use Psr\Http\Message\StreamFactoryInterface;

/**
 * The API for the server of a merchant or a partner. Arrays have the names of the API; amounts are US cents.
 *
 * Except `request`, every call throws ApiException when the response is an error. Every call throws
 * ConnectionException when there is no response.
 *
 * @phpstan-import-type Payment from Types
 * @phpstan-import-type NewPayment from Types
 * @phpstan-import-type Filter from Types
 * @phpstan-import-type Event from Types
 * @phpstan-import-type EventFilter from Types
 * @phpstan-import-type Simulation from Types
 */
final class PaymentsClient
{
    private const BASE = '/external/v1';
    private const PAGE_SIZE = 100;
    /**
     * How far before `after` the events begin: an event can be read only after its transaction has ended, and has
     * the clock of one of several servers.
     */
    private const LOOK_BACK = '-1 minute';
    private const JSON = JSON_THROW_ON_ERROR | JSON_UNESCAPED_SLASHES | JSON_UNESCAPED_UNICODE;

    private readonly SignedRequests $requests;
    private readonly Attempts $attempts;

    /**
     * @param string $baseUrl scheme and host of the service, for example `https://payments.example.com`. A path is
     *     the prefix under which a proxy publishes the service: it is part of requests, but not of signatures.
     * @param ClientInterface $http decides on timeouts, and must not follow redirects
     * @param int $maxAttempts maximum attempts per call, the first included
     * @param (\Closure(): int)|null $now Unix seconds
     * @param (\Closure(float): void)|null $sleep takes seconds
     *
     * @throws \InvalidArgumentException for an invalid base URL or number of attempts
     */
    public function __construct(
        string $baseUrl,
        Credentials $credentials,
        ClientInterface $http,
        RequestFactoryInterface $requests,
        StreamFactoryInterface $streams,
        int $maxAttempts = 4,
        ?\Closure $now = null,
        ?\Closure $sleep = null,
    ) {
        if ($maxAttempts < 1) {
            throw new \InvalidArgumentException('The maximum of attempts must be above 0');
        }
        $this->requests = new SignedRequests($baseUrl, $credentials, $requests, $streams, $now ?? time(...));
        $sleep ??= static function (float $seconds): void {
            usleep((int) ($seconds * 1_000_000));
        };
        $origin = implode('/', array_slice(explode('/', $baseUrl), 0, 3));
        $this->attempts = new Attempts($http, $origin, $maxAttempts, $sleep);
    }

    /**
     * Creates a payment. By default a random idempotency key protects the retries of this call. Pass your order's
     * ID to be protected across calls and restarts too.
     *
     * @param NewPayment $payment
     *
     * @return array{prompt: Payment, checkoutUrl: string}
     */
    public function createPayment(array $payment, ?string $idempotencyKey = null): array
    {
        $body = json_encode($payment, self::JSON);

        return $this->call('POST', self::BASE . '/payments/prompt', $body, $idempotencyKey ?? bin2hex(random_bytes(16)));
    }

    /**
     * @return Payment
     *
     * @throws ApiException with the errorCode E3001 when there is no such payment
     */
    public function getPayment(string $id): array
    {
        return $this->call('GET', self::BASE . '/payments/' . rawurlencode($id));
    }

    /**
     * One page, newest first.
     *
     * @param Filter $query
     *
     * @return array{object: 'list', data: list<Payment>, hasMore: bool}
     */
    public function listPayments(array $query = []): array
    {
        return $this->call('GET', self::BASE . '/payments' . self::queryString($query));
    }

    /**
     * All matching payments, newest first. A page is fetched when its first payment is read. `limit` is the page
     * size, not the number of payments.
     *
     * @param Filter $query
     *
     * @return \Generator<int, Payment>
     */
    public function payments(array $query = []): \Generator
    {
        return $this->walk($this->listPayments(...), $query);
    }

    /**
     * @return Event
     *
     * @throws ApiException with the errorCode E3001 when there is no such event
     */
    public function getEvent(string $id): array
    {
        return $this->call('GET', self::BASE . '/events/' . rawurlencode($id));
    }

    /**
     * One page, newest first unless `order` is `oldest`.
     *
     * @param EventFilter&array{startDate?: string, order?: 'newest'|'oldest', startingAfter?: string, endingBefore?: string} $query
     *
     * @return array{object: 'list', data: list<Event>, hasMore: bool}
     */
    public function listEvents(array $query = []): array
    {
        return $this->call('GET', self::BASE . '/events' . self::queryString($query));
    }

    /**
     * All matching events from a minute before `after`, oldest first; ends with the newest. Keep the ID of the last
     * one that you have processed, and pass it as `after` the next time: then none is missed. Those of the minute
     * before it come again, since events become readable in no exact order, so act once on each ID, as for webhooks.
     *
     * @param EventFilter $query
     * @param string|\DateTimeInterface|null $after the ID of an event, or a time; otherwise the oldest that is kept
     *
     * @return \Generator<int, Event>
     *
     * @throws ApiException with the errorCode E3001 when the event in `after` is no longer kept
     */
    public function events(array $query = [], string|\DateTimeInterface|null $after = null): \Generator
    {
        $query = ['order' => 'oldest'] + $query;
        $mark = is_string($after) ? $this->getEvent($after) : null;
        $time = $mark === null ? $after : new \DateTimeImmutable($mark['createdAt']);
        if ($time !== null) {
            $query['startDate'] = \DateTimeImmutable::createFromInterface($time)
                ->modify(self::LOOK_BACK)
                ->setTimezone(new \DateTimeZone('UTC'))
                ->format('Y-m-d\TH:i:s.v\Z');
        }
        foreach ($this->walk($this->listEvents(...), $query) as $event) {
            if ($event['id'] !== ($mark['id'] ?? null)) {
                yield $event;
            }
        }
    }

    /** @return list<array{object: 'blockchain', id: string, name: string, isActive: bool, assetSymbol: string, assetName: string}> */
    public function activeBlockchains(): array
    {
        return $this->call('GET', self::BASE . '/blockchains/active');
    }

    /**
     * Plays what a customer and a chain do, on a payment of a test merchant.
     *
     * @param 'confirm'|'detect'|'under'|'rest'|'over'|'late'|'duplicate'|'revert'|'reorg'|'fail'|'cancel'|'expire' $case
     * @param string|null $blockchainId the network to choose if the payment has none; null for the first one it offers
     *
     * @return Simulation
     *
     * @throws ApiException with the errorCode E1040 for a case that the payment's state does not allow, and E2008
     *     with a key of a live merchant
     */
    public function simulatePayment(string $id, string $case, ?string $blockchainId = null): array
    {
        $chosen = $blockchainId === null ? [] : ['blockchainId' => $blockchainId];

        return $this->play($id, 'simulate', ['case' => $case] + $chosen);
    }

    /**
     * Moves the time of a test merchant's payment forward; throws as `simulatePayment` does.
     *
     * @return Simulation
     */
    public function advanceClock(string $id, int $seconds): array
    {
        return $this->play($id, 'clock', ['seconds' => $seconds]);
    }

    /**
     * @param array<string, mixed> $body
     *
     * @return Simulation
     */
    private function play(string $id, string $what, array $body): array
    {
        $path = self::BASE . '/test/payments/' . rawurlencode($id) . "/$what";

        return $this->call('POST', $path, json_encode($body, self::JSON));
    }

    /**
     * Sends any signed request, with retries.
     *
     * @param 'GET'|'POST' $method
     * @param string $path path with its query, percent-encoded
     * @param string|null $body JSON, sent unchanged
     *
     * @return ResponseInterface the last response, of any status
     */
    public function request(
        string $method,
        string $path,
        ?string $body = null,
        ?string $idempotencyKey = null,
    ): ResponseInterface {
        return $this->attempts->send(
            fn (): RequestInterface => $this->requests->prepare($method, $path, $body, $idempotencyKey),
            $method === 'GET' || $idempotencyKey !== null,
        );
    }

    /** @return array<mixed> */
    private function call(string $method, string $path, ?string $body = null, ?string $idempotencyKey = null): array
    {
        $response = $this->request($method, $path, $body, $idempotencyKey);
        $text = (string) $response->getBody();
        $status = $response->getStatusCode();
        if ($status < 200 || $status > 299) {
            throw new ApiException($response, $text);
        }
        $data = json_decode($text, true);
        if (!is_array($data)) {
            throw new ApiException($response, $text, "HTTP $status with a body that is not JSON");
        }

        return $data;
    }

    /**
     * @param \Closure(array<string, mixed>): array<string, mixed> $list reads a page
     * @param array<string, mixed> $query
     */
    private function walk(\Closure $list, array $query): \Generator
    {
        $query += ['limit' => self::PAGE_SIZE];
        do {
            $page = $list($query);
            foreach ($page['data'] as $each) {
                yield $each;
                $query['startingAfter'] = $each['id'];
            }
        } while ($page['hasMore'] && $page['data'] !== []);
    }

    /** @param array<string, mixed> $query */
    private static function queryString(array $query): string
    {
        // The API writes false as JSON does.
        $texts = array_map(fn (mixed $value): mixed => is_bool($value) ? json_encode($value) : $value, $query);
        $parameters = http_build_query($texts, '', '&', PHP_QUERY_RFC3986);

        return $parameters === '' ? '' : "?$parameters";
    }
}
