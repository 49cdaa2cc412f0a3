<?php

// Executes the library calls that it reads, one JSON document per line, and prints their results.

declare(strict_types=1);

use ExternalPayments\ApiException;
use ExternalPayments\ConnectionException;
use ExternalPayments\Credentials;
use ExternalPayments\PaymentsClient;
use ExternalPayments\WebhookException;
use ExternalPayments\WebhookVerifier;
use GuzzleHttp\Client;
use GuzzleHttp\Psr7\HttpFactory;
use Psr\Http\Client\ClientExceptionInterface;
use Psr\Http\Client\ClientInterface;
use Psr\Http\Message\RequestInterface;
use Psr\Http\Message\ResponseInterface;

require getenv('AUTOLOAD');

function sign(array $given): array
{
    $credentials = new Credentials($given['keyId'], $given['secret'], $given['passphrase']);

    return ['headers' => $credentials->sign(
        $given['method'],
        $given['path'],
        $given['body'],
        $given['timestamp'],
        $given['nonce'],
    )];
}

function verify(array $given): array
{
    try {
        $verifier = new WebhookVerifier($given['secrets'], $given['toleranceSeconds'], fn () => $given['now']);
        $body = ($given['isParsed'] ?? false) ? json_decode($given['body'], true) : $given['body'];
        $event = $verifier->verify($body, $given['headers']);
    } catch (WebhookException $error) {
        return ['valid' => false, 'failure' => $error->failure];
    } catch (InvalidArgumentException) {
        return ['valid' => false, 'failure' => 'secret'];
    }

    return ['valid' => true, 'id' => $event['id']];
}

function show(array $given): array
{
    $credentials = new Credentials($given['keyId'], $given['secret'], $given['passphrase']);
    $factory = new HttpFactory();
    $client = new PaymentsClient($given['url'], $credentials, new Client(), $factory, $factory);
    ob_start();
    foreach ([$credentials, $client, new WebhookVerifier($given['secrets'])] as $each) {
        var_dump($each);
        print_r($each);
    }

    return ['printed' => ob_get_clean()];
}

final class HttpFailure extends RuntimeException implements ClientExceptionInterface
{
}

/** Fails to send with a message. */
final class FailingHttp implements ClientInterface
{
    public function __construct(private readonly string $message)
    {
    }

    public function sendRequest(RequestInterface $request): ResponseInterface
    {
        throw new HttpFailure($this->message);
    }
}

function call(array $given): array
{
    $pauses = [];
    $factory = new HttpFactory();
    try {
        $client = new PaymentsClient(
            $given['url'],
            new Credentials($given['keyId'], $given['secret'], $given['passphrase']),
            isset($given['failsWith'])
                ? new FailingHttp($given['failsWith'])
                : new Client(['timeout' => $given['timeoutMs'] / 1000, 'proxy' => '']),
            $factory,
            $factory,
            $given['maxAttempts'],
            // Pauses take no time, but advance the clock.
            now: function () use (&$pauses): int {
                return time() + (int) (array_sum($pauses) / 1000);
            },
            sleep: function (float $seconds) use (&$pauses): void {
                $pauses[] = $seconds * 1000;
            },
        );
        $result = apply($client, $given['call'], $given['arguments']);
    } catch (ApiException $error) {
        $fields = get_object_vars($error);
        $fields['message'] = $error->getMessage();
        $fields['code'] = $error->slug;
        $fields['retryAfterSeconds'] = $error->retryAfter;

        return ['error' => ['kind' => 'api'] + $fields, 'pauses' => $pauses];
    } catch (ConnectionException $error) {
        $fields = ['attempts' => $error->attempts, 'message' => $error->getMessage(), 'printed' => (string) $error];

        return ['error' => ['kind' => 'connection'] + $fields, 'pauses' => $pauses];
    } catch (InvalidArgumentException $error) {
        return ['error' => ['kind' => 'argument', 'message' => $error->getMessage()], 'pauses' => $pauses];
    }

    return ['result' => $result, 'pauses' => $pauses];
}

function apply(PaymentsClient $client, string $name, array $arguments): array
{
    return match ($name) {
        'create' => $client->createPayment($arguments['payment'], $arguments['idempotencyKey'] ?? null),
        'get' => $client->getPayment($arguments['id']),
        'list' => $client->listPayments($arguments['query']),
        'all' => iterator_to_array($client->payments($arguments['query']), false),
        'event' => $client->getEvent($arguments['id']),
        'listEvents' => $client->listEvents($arguments['query']),
        'events' => iterator_to_array($client->events(
            $arguments['query'],
            isset($arguments['since']) ? new DateTimeImmutable($arguments['since']) : $arguments['after'] ?? null,
        ), false),
        'blockchains' => $client->activeBlockchains(),
        'simulate' => $client->simulatePayment($arguments['id'], $arguments['case'], $arguments['blockchainId'] ?? null),
        'advance' => $client->advanceClock($arguments['id'], $arguments['seconds']),
        'request' => ['status' => $client->request(
            $arguments['method'],
            $arguments['path'],
            $arguments['body'] ?? null,
            $arguments['idempotencyKey'] ?? null,
        )->getStatusCode()],
    };
}

while (($line = fgets(STDIN)) !== false) {
    $given = json_decode($line, true, flags: JSON_THROW_ON_ERROR);
    $answer = match ($given['kind']) {
        'request' => sign($given),
        'webhook' => verify($given),
        'print' => show($given),
        'call' => call($given),
    };
    echo json_encode($answer, JSON_THROW_ON_ERROR | JSON_UNESCAPED_UNICODE), "\n";
}
