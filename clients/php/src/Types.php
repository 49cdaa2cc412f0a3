<?php

declare(strict_types=1);

namespace ExternalPayments;

/**
 * What the API takes and returns, for PHPStan and Psalm.
 *
 * @phpstan-type Payment array{
 *     object: 'payment_prompt', id: string, amount: int, commissionAmount: int|null,
 *     commissionPayer: 'merchant'|'shopper', settlementModel: 'split'|'direct'|null,
 *     status: 'pending'|'successful'|'unsuccessful'|'expired'|'cancelled',
 *     sessionStatus: 'pending'|'cancelled'|'expired'|'completed'|null, blockchainId: string|null,
 *     tokenAmount: string|null, transactionHash: string|null, paidAt: string|null, expiresAt: string,
 *     createdAt: string, redirectUrl: string|null, customerReferenceId: string|null,
 *     cancellationReason: string|null, lastError: array{code: string, message: string, occurredAt: string}|null
 * }
 * @phpstan-type NewPayment array{
 *     amount: int, blockchainIds?: non-empty-list<string>, note?: string, redirectUrl?: string,
 *     customerReferenceId?: string, merchantId?: string
 * }
 * @phpstan-type Filter array{
 *     status?: string, customerReferenceId?: string, createdAfter?: string, createdBefore?: string,
 *     limit?: int, startingAfter?: string, endingBefore?: string
 * }
 * @phpstan-type Event array{
 *     id: string, object: 'event', type: string, createdAt: string, data: array<string, mixed>,
 *     deliveries: list<array{
 *         id: string, endpointId: string, status: 'pending'|'succeeded'|'failed'|'cancelled'|'withheld',
 *         redeliveryOf: string|null, createdAt: string, nextAttemptAt: string|null,
 *         attempts: list<array{at: string, durationMs: int, statusCode: int|null, error: string|null}>
 *     }>
 * }
 * @phpstan-type Simulation array{object: 'simulation', payment: Payment, waits: string|null}
 * @phpstan-type EventFilter array{type?: string, paymentId?: string, endDate?: string, delivered?: false, limit?: int}
 */
interface Types
{
}
