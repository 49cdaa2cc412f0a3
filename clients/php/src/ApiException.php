<?php

declare(strict_types=1);

namespace ExternalPayments;

use Psr\Http\Message\ResponseInterface;

/**
 * The response is an error of the service, or an unexpected one of a proxy in front of it. Its message begins with the
 * error's code.
 */
final class ApiException extends \RuntimeException implements PaymentsException
{
    /** HTTP status. */
    public readonly int $status;
    /** Category, e.g. `invalid_request_error`; empty when the response is not the service's own. */
    public readonly string $type;
    /** Slug for programmatic handling, e.g. `parameter_invalid`; may be empty like the type. */
    public readonly string $slug;
    /** Short code, e.g. `E1001`; may be empty like the type. */
    public readonly string $errorCode;
    /** The message without the code. */
    public readonly string $detail;
    public readonly ?string $param;
    /** Quote it when you contact support. */
    public readonly ?string $requestId;
    public readonly ?string $docUrl;
    /** Whether the detail may be shown to your customers as it is. */
    public readonly bool $userSafeMessage;
    /** Whether another attempt may succeed, after the client has used all of its own. */
    public readonly bool $retryable;
    /** Seconds to wait before another attempt, if the response says so. */
    public readonly ?int $retryAfter;

    /**
     * @param string $body of the response, read
     * @param string|null $message used when the response has none
     */
    public function __construct(ResponseInterface $response, string $body, ?string $message = null)
    {
        $error = self::readError($body);
        $text = static fn (string $name): ?string => is_string($error[$name] ?? null) ? $error[$name] : null;
        $this->status = $response->getStatusCode();
        $this->type = $text('type') ?? '';
        $this->slug = $text('code') ?? '';
        $this->errorCode = $text('errorCode') ?? '';
        $this->detail = $text('message') ?? $message ?? "HTTP $this->status";
        $this->param = $text('param');
        $this->requestId = $text('requestId') ?? ($response->getHeaderLine('X-Request-Id') ?: null);
        $this->docUrl = $text('docUrl');
        $this->userSafeMessage = ($error['userSafeMessage'] ?? false) === true;
        $this->retryable = $response->getHeaderLine('X-MP-Should-Retry') === 'true';
        $this->retryAfter = Attempts::retryAfter($response);
        parent::__construct($this->errorCode === '' ? $this->detail : "$this->errorCode: $this->detail");
    }

    /** @return array<mixed> fields of the error envelope; none for the response of a proxy, which may be anything */
    private static function readError(string $body): array
    {
        $envelope = json_decode($body, true);
        $error = is_array($envelope) ? ($envelope['error'] ?? null) : null;

        return is_array($error) ? $error : [];
    }
}
