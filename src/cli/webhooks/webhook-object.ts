import { DISABLE_REASONS, wordDisabling } from '#errors/refusals/disablings.ts';
import { subscriptionOf } from '#payments/webhooks/manage-endpoints.ts';
import type { WebhookAttempt, WebhookEndpoint } from '#storage/database/webhook-tables.ts';
import type { DeliveryWithEventType } from '#storage/repositories/webhooks/deliveries.ts';

/**
 * An endpoint without its secrets.
 * @param now Milliseconds since the epoch.
 */
export function endpointObject(endpoint: WebhookEndpoint, now: number) {
  const { disabled_at: disabledAt, previous_valid_until: previous } = endpoint;
  return {
    id: endpoint.id,
    merchantId: endpoint.merchant_id,
    url: endpoint.url,
    types: subscriptionOf(endpoint),
    status: disabledAt === null ? 'enabled' : 'disabled',
    createdAt: endpoint.created_at,
    // The row keeps the previous secret until cleanup, even after its grace period.
    previousSecretUntil: previous !== null && previous.getTime() > now ? previous : null,
    disabledAt,
    disabledReason: disabledAt && wordDisabling(DISABLE_REASONS, endpoint.disabled_reason),
  };
}

/** @param attempts Attempts of the delivery, oldest first. */
export function deliveryObject(delivery: DeliveryWithEventType, attempts: WebhookAttempt[]) {
  const last = attempts.at(-1);
  return {
    id: delivery.id,
    endpointId: delivery.endpoint_id,
    eventId: delivery.event_id,
    eventType: delivery.event_type,
    redeliveryOf: delivery.redelivery_of,
    status: delivery.status,
    attempts: delivery.attempts,
    lastResult: last === undefined ? null : (last.error ?? `HTTP ${last.status_code}`),
    nextAttemptAt: delivery.next_attempt_at,
    createdAt: delivery.created_at,
    finishedAt: delivery.finished_at,
    log: attempts.map(attempt => ({
      number: attempt.number,
      at: attempt.at,
      durationMs: attempt.duration_ms,
      statusCode: attempt.status_code,
      error: attempt.error,
      responseExcerpt: attempt.response_excerpt,
    })),
  };
}
