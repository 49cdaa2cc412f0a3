import { timeOfId } from '#crypto/new-id.ts';
import { EVENT_TYPES } from '#schemas/event.ts';
import type { EventDelivery, ListEventsQuery } from '#schemas/list-events.ts';
import { PAGE_SIZE_DEFAULT } from '#schemas/list-payments.ts';
import type { Connection } from '#storage/database/connection.ts';
import type { WebhookAttempt } from '#storage/database/webhook-tables.ts';
import { listAttempts } from '#storage/repositories/webhooks/attempts.ts';
import {
  type DeliveryOfMerchant,
  type EventCursor,
  findMerchantEvent,
  listDeliveriesOf,
  listMerchantEvents,
  type MerchantEvent,
} from '#storage/repositories/webhooks/merchant-events.ts';
import { toDate, toInclusiveEnd } from '#time/date-bound.ts';
import { cutPage, foreignCursor, type ListCursor, readCursor } from '../paging.ts';
import { RETRY_DELAYS_SECONDS } from './retry-schedule.ts';
import { eventEnvelope } from './send-event.ts';

/** Maximum number of attempts that are read per delivery. Some are made twice, when a worker is taken to be dead. */
const ATTEMPTS_MAXIMUM = 2 * RETRY_DELAYS_SECONDS.length;

/**
 * Maximum distance between the time in an event's ID and its creation time, in milliseconds: the ID is made in the
 * transaction, the time before it.
 */
const MADE_WITHIN_MS = 60_000;

/**
 * One page of a merchant's events in the requested order, as JSON: `data` is stored as text and is repeated byte by
 * byte.
 * @param keptSince Older events are removed. An older cursor may be the ID of a removed event. Then the page begins
 * at the time in that ID, and events close to it may be repeated.
 * @throws ApiError E1001 for both cursors at once, E3001 for a newer cursor that is not the merchant's.
 */
export async function listEvents(
  db: Connection,
  merchantId: string,
  query: ListEventsQuery,
  keptSince: Date,
): Promise<string> {
  const limit = query.limit ?? PAGE_SIZE_DEFAULT;
  const cursor = readCursor(query);
  const towardsStart = cursor?.param === 'endingBefore';
  const filters = {
    types: query.type === undefined ? EVENT_TYPES : [query.type],
    paymentId: query.paymentId,
    createdFrom: toDate(query.startDate),
    createdTo: toInclusiveEnd(query.endDate),
    undelivered: query.delivered === false,
  };
  const oldestFirst = (query.order === 'oldest') !== towardsStart;
  const beyond = cursor && (await placeOf(db, merchantId, cursor, { oldestFirst, keptSince }));
  // One more than requested shows whether there are more.
  const wanted = { oldestFirst, beyond, limit: limit + 1 };
  const events = await listMerchantEvents(db, merchantId, filters, wanted);
  const { page, hasMore } = cutPage(events, limit, cursor);
  const data = await describeEvents(db, page);
  return `{"object":"list","data":[${data.join(',')}],"hasMore":${hasMore}}`;
}

/** Where a page begins. @throws ApiError E3001 for a cursor that is not the merchant's. */
async function placeOf(
  db: Connection,
  merchantId: string,
  cursor: ListCursor,
  { oldestFirst, keptSince }: { readonly oldestFirst: boolean; readonly keptSince: Date },
): Promise<EventCursor> {
  const known = await findMerchantEvent(db, merchantId, cursor.id);
  if (known !== undefined) return known;
  const madeAt = timeOfId(cursor.id);
  if (madeAt === undefined || madeAt >= keptSince.getTime()) {
    throw foreignCursor(cursor, 'an event');
  }
  const createdAt = new Date(madeAt + (oldestFirst ? -MADE_WITHIN_MS : MADE_WITHIN_MS));
  return { createdAt, id: cursor.id };
}

/** A merchant's event as JSON; undefined for another merchant's, as for a missing one. */
export async function readEvent(
  db: Connection,
  merchantId: string,
  id: string,
): Promise<string | undefined> {
  const event = await findMerchantEvent(db, merchantId, id);
  if (event === undefined) return undefined;
  const [text] = await describeEvents(db, [event]);
  return text;
}

/** Each event as its webhooks carry it, with its deliveries and their attempts. */
async function describeEvents(
  db: Connection,
  events: readonly MerchantEvent[],
): Promise<readonly string[]> {
  if (events.length === 0) return [];
  const deliveries = await listDeliveriesOf(
    db,
    events.map(({ id }) => id),
  );
  const attempts = await listAttempts(db, deliveries, deliveries.length * ATTEMPTS_MAXIMUM);
  const ofEvent = Map.groupBy(deliveries, ({ event_id: eventId }) => eventId);
  const ofDelivery = Map.groupBy(attempts, ({ delivery_id: deliveryId }) => deliveryId);
  return events.map(event => {
    const own = (ofEvent.get(event.id) ?? []).map(each =>
      describeDelivery(each, ofDelivery.get(each.id) ?? []),
    );
    return `${eventEnvelope(event).slice(0, -1)},"deliveries":${JSON.stringify(own)}}`;
  });
}

function describeDelivery(
  delivery: DeliveryOfMerchant,
  attempts: readonly WebhookAttempt[],
): EventDelivery {
  return {
    id: delivery.id,
    endpointId: delivery.endpoint_id,
    status: delivery.status,
    redeliveryOf: delivery.redelivery_of,
    createdAt: delivery.created_at.toISOString(),
    nextAttemptAt: delivery.next_attempt_at?.toISOString() ?? null,
    attempts: attempts.map(({ at, duration_ms, status_code, error }) => ({
      at: at.toISOString(),
      durationMs: duration_ms,
      statusCode: status_code,
      error,
    })),
  };
}
