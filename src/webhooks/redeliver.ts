import { audited, OperationRefused, type Operator } from '../audit/audited-change.ts';
import { newId } from '../crypto/new-id.ts';
import {
  cancelDeliveries,
  type DeliveryWithEventType,
  findDelivery,
  insertRedelivery,
  listDeliveries,
} from '../repositories/webhooks/deliveries.ts';
import { requireEnabledEndpoint } from './manage-endpoints.ts';

/**
 * Sends an event to an endpoint again, now and with a new retry schedule. Replaces the original
 * delivery, which is cancelled if it is still pending.
 * @throws OperationRefused for an unknown delivery or a disabled endpoint.
 */
export function redeliver(operator: Operator, deliveryId: string): Promise<DeliveryWithEventType> {
  return audited(operator, 'webhook.redeliver', async (tx, now) => {
    const original = await findDelivery(tx, deliveryId);
    if (original === undefined) throw new OperationRefused(`There is no delivery ${deliveryId}.`);
    await requireEnabledEndpoint(tx, original.endpoint_id);
    await cancelDeliveries(tx, { id: deliveryId }, now);
    const id = newId();
    await insertRedelivery(tx, {
      id,
      event_id: original.event_id,
      endpoint_id: original.endpoint_id,
      redelivery_of: deliveryId,
      next_attempt_at: now,
      created_at: now,
    });
    const [delivery] = await listDeliveries(tx, { id }, 1);
    if (delivery === undefined) throw new Error('the delivery was not written');
    return { result: delivery, objectId: original.endpoint_id, detail: { deliveryId, as: id } };
  });
}
