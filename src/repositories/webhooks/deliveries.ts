import type { Connection } from '../../database/connection.ts';
import type { WebhookDelivery } from '../../database/webhook-tables.ts';
import { findById, insertInto } from '../rows.ts';

/** Cancels pending deliveries: one, or all of an endpoint except one. */
export async function cancelDeliveries(
  db: Connection,
  which: { id: string } | { endpointId: string; except?: string | undefined },
  now: Date,
): Promise<void> {
  let update = db
    .updateTable('webhook_deliveries')
    .set({ status: 'cancelled', next_attempt_at: null, claimed_until: null, finished_at: now })
    .where('status', '=', 'pending');
  if ('id' in which) update = update.where('id', '=', which.id);
  else {
    update = update.where('endpoint_id', '=', which.endpointId);
    if (which.except !== undefined) update = update.where('id', '!=', which.except);
  }
  await update.execute();
}

export const findDelivery = findById('webhook_deliveries');

export const insertRedelivery = insertInto('webhook_deliveries');

export type DeliveryWithEventType = WebhookDelivery & { eventType: string };

/** At most `limit` deliveries of an endpoint, newest first, or the one with the ID. */
export function listDeliveries(
  db: Connection,
  which: { id: string } | { endpointId: string },
  limit: number,
): Promise<DeliveryWithEventType[]> {
  const query = db
    .selectFrom('webhook_deliveries')
    .innerJoin('events', 'events.id', 'webhook_deliveries.event_id')
    .selectAll('webhook_deliveries')
    .select('events.type as eventType')
    .orderBy('webhook_deliveries.created_at', 'desc')
    .orderBy('webhook_deliveries.id', 'desc')
    .limit(limit);
  if ('id' in which) return query.where('webhook_deliveries.id', '=', which.id).execute();
  return query.where('endpoint_id', '=', which.endpointId).execute();
}
