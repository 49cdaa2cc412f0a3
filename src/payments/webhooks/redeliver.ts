import { audited, OperationRefused, type Operator } from '#accounts/audit/audited-change.ts';
import { newId } from '#crypto/new-id.ts';
import {
  cancelDeliveries,
  type DeliveryWithEventType,
  findDelivery,
  insertRedeliveries,
  insertRedelivery,
  listDeliveries,
  listUndelivered,
} from '#storage/repositories/webhooks/deliveries.ts';
import { requireEnabledEndpoint } from './manage-endpoints.ts';

/** Maximum number of deliveries that one call repeats: its transaction takes a fraction of a second. */
export const REDELIVERIES_MAXIMUM = 1_000;

/** The result of redelivering what failed. */
export interface Redelivered {
  readonly deliveries: number;
  /** Whether there are more, which another call repeats. */
  readonly hasMore: boolean;
}

/**
 * Sends an event to an endpoint again, now and with a new retry schedule. Replaces the original
 * delivery, which is cancelled if it is still pending.
 * @throws OperationRefused for an unknown delivery or a disabled endpoint.
 */
export function redeliver(operator: Operator, deliveryId: string): Promise<DeliveryWithEventType> {
  return audited(operator, 'webhook.redeliver', async (tx, now) => {
    const original = await findDelivery(tx, deliveryId);
    if (original === undefined) throw new OperationRefused('delivery-unknown', { deliveryId });
    await requireEnabledEndpoint(tx, original.endpoint_id);
    await cancelDeliveries(tx, original, now);
    const id = newId();
    const { event_id } = original;
    await insertRedelivery(tx, {
      id,
      event_id,
      endpoint_id: original.endpoint_id,
      redelivery_of: deliveryId,
      next_attempt_at: now,
      created_at: now,
    });
    const [delivery] = await listDeliveries(tx, { id, event_id }, 1);
    if (delivery === undefined) throw new Error('the delivery was not written');
    return { result: delivery, objectId: original.endpoint_id, detail: { deliveryId, as: id } };
  });
}

/**
 * Repeats deliveries to an endpoint that were created since a time and have failed for good, or were cancelled when it
 * was disabled, the oldest first and at most REDELIVERIES_MAXIMUM. An event that was redelivered since then is left out,
 * so that a second call continues where the first one ended.
 * @throws OperationRefused for an unknown or disabled endpoint.
 */
export function redeliverFailed(
  operator: Operator,
  endpointId: string,
  since: Date,
): Promise<Redelivered> {
  return audited(operator, 'webhook.redeliver-failed', async (tx, now) => {
    // Concurrent calls for the endpoint wait here, and find what the first one has repeated.
    await requireEnabledEndpoint(tx, endpointId);
    const failed = await listUndelivered(tx, endpointId, since, REDELIVERIES_MAXIMUM + 1);
    const chosen = failed.slice(0, REDELIVERIES_MAXIMUM);
    await insertRedeliveries(
      tx,
      chosen.map(({ id, event_id }) => ({ id: newId(), event_id, redelivery_of: id })),
      { endpointId, now },
    );
    const result = { deliveries: chosen.length, hasMore: failed.length > chosen.length };
    return { result, objectId: endpointId, detail: { since, deliveries: chosen.length } };
  });
}
