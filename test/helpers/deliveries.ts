import type { Insertable } from 'kysely';
import { v7 as uuidv7 } from 'uuid';
import { newEvent } from '#payments/new-event.ts';
import { createEndpoint, type IssuedEndpoint } from '#payments/webhooks/manage-endpoints.ts';
import type { EventType } from '#schemas/event.ts';
import type { Payment } from '#storage/database/payment-tables.ts';
import type {
  WebhookAttemptsTable,
  WebhookDeliveriesTable,
} from '#storage/database/webhook-tables.ts';
import { operatorOf } from './accounts.ts';
import type { TestApp } from './app.ts';

/** Adds a webhook endpoint to a merchant. */
export function addEndpoint(
  service: Pick<TestApp, 'db' | 'clock' | 'keyring'>,
  merchantId: string,
  url = 'http://127.0.0.1:1/hooks?token=unseen',
  types: readonly EventType[] = [],
): Promise<IssuedEndpoint> {
  const given = { merchantId, url, types, allowPrivateAddresses: true };
  return createEndpoint(operatorOf(service), service.keyring, given);
}

/** A delivery as a test specifies it; defaults are those of one that has just failed. */
interface Made extends Partial<Insertable<WebhookDeliveriesTable>> {
  readonly endpointId: string;
  /** The results of its attempts, one a minute. */
  readonly log?: readonly Partial<Insertable<WebhookAttemptsTable>>[];
}

/**
 * Inserts a delivery of a payment's creation as a worker leaves it.
 * @returns Its ID, greater than earlier ones.
 */
export async function addDelivery(
  { db, clock }: Pick<TestApp, 'db' | 'clock'>,
  payment: Payment,
  { endpointId, log = [], ...given }: Made,
): Promise<string> {
  const at = given.created_at ?? new Date(clock());
  const event = newEvent('payment_prompt.created', payment, at);
  const { id: eventId, merchantId, paymentId, type, createdAt, data } = event;
  await db
    .insertInto('events')
    .values({
      id: eventId,
      merchant_id: merchantId,
      payment_id: paymentId,
      type,
      data,
      created_at: createdAt,
    })
    .execute();
  const id = uuidv7({ msecs: at.getTime() });
  const isPending = given.status === 'pending';
  const end = isPending ? { next_attempt_at: at } : { next_attempt_at: null, finished_at: at };
  const row = { id, event_id: eventId, endpoint_id: endpointId, redelivery_of: null };
  await db
    .insertInto('webhook_deliveries')
    .values({ ...row, ...end, status: 'failed', attempts: log.length, created_at: at, ...given })
    .execute();
  const attempts = log.map((attempt, index) => {
    const msecs = at.getTime() + index * 60_000;
    return {
      id: uuidv7({ msecs }),
      delivery_id: id,
      number: index + 1,
      at: new Date(msecs),
      duration_ms: 12,
      status_code: null,
      error: null,
      response_excerpt: null,
      ...attempt,
    };
  });
  if (attempts.length > 0) await db.insertInto('webhook_attempts').values(attempts).execute();
  return id;
}
