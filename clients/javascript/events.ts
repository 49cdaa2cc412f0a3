import type { EventDelivery, ListEventsQuery } from '#schemas/list-events.ts';
import type { WebhookEvent } from './verify-webhook.ts';

/** An event with the deliveries of its webhooks. The body of a webhook is the same without `deliveries`. */
export type RecordedEvent = WebhookEvent & {
  /** Newest first; empty if no enabled endpoint was subscribed to the type. */
  readonly deliveries: readonly EventDelivery[];
};

export interface EventList {
  readonly object: 'list';
  readonly data: readonly RecordedEvent[];
  readonly hasMore: boolean;
}

/** Which events to go through. `limit` is the page size, not the number of events. */
export interface EventsQuery
  extends Omit<ListEventsQuery, 'order' | 'startingAfter' | 'endingBefore' | 'startDate'> {
  /**
   * The last event that you have processed, by its ID, or a time: a Date, or ISO 8601 text with its zone, such
   * as `createdAt`. Default: the oldest event that is kept.
   */
  readonly after?: string | Date | undefined;
}

interface EventReads {
  getEvent(id: string): Promise<RecordedEvent>;
  listEvents(query: ListEventsQuery): Promise<EventList>;
}

/**
 * How far before `after` the events begin, in milliseconds: an event becomes readable only when its
 * transaction ends, and its time is that of one of several servers' clocks.
 */
export const LOOK_BACK_MS = 60_000;
const PAGE_SIZE = 100;
/** JavaScript reads a date-time without a zone as local time. */
const ZONED = /^\d{4}-\d\d-\d\d(T.*(Z|[+-]\d\d:\d\d))?$/i;
const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

/** Goes through events, the oldest first, from a minute before `after`. */
export async function* walkEvents(
  { getEvent, listEvents }: EventReads,
  { after, ...filters }: EventsQuery,
): AsyncGenerator<RecordedEvent, void, undefined> {
  const mark = typeof after === 'string' && UUID.test(after) ? await getEvent(after) : undefined;
  const limit = filters.limit ?? PAGE_SIZE;
  const query = { ...filters, limit, order: 'oldest', ...since(mark?.createdAt ?? after) } as const;
  let cursor: { startingAfter?: string } = {};
  for (;;) {
    const { data, hasMore } = await listEvents({ ...query, ...cursor });
    for (const event of data) if (event.id !== mark?.id) yield event;
    const last = data.at(-1);
    if (!hasMore || last === undefined) return;
    cursor = { startingAfter: last.id };
  }
}

/** @throws TypeError if `after` is neither an ID nor a time. */
function since(after: string | Date | undefined): { startDate?: string } {
  if (after === undefined) return {};
  const time = new Date(after).getTime();
  const isExact = after instanceof Date || ZONED.test(after);
  if (!isExact || Number.isNaN(time))
    throw new TypeError("after must be an event's ID or a time with its zone");
  return { startDate: new Date(time - LOOK_BACK_MS).toISOString() };
}
