import fc from 'fast-check';
import { v4 as uuidv4 } from 'uuid';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createEndpoint } from '#payments/webhooks/manage-endpoints.ts';
import { EVENT_TYPES } from '#schemas/event.ts';
import { EVENT_ORDERS } from '#schemas/list-events.ts';
import { firstIdOf } from '#storage/repositories/payments/events.ts';
import { addMerchant, type MerchantWithKey, operatorOf } from '../../helpers/accounts.ts';
import { startTestApp, type TestApp } from '../../helpers/app.ts';
import { makeMonths, monthFrom } from '../../helpers/months.ts';
import { addPayment } from '../../helpers/payments.ts';
import { send } from '../../helpers/signed-request.ts';

const START = Date.UTC(2026, 2, 1);
/** Few instants, so that most histories have events of the same millisecond. */
const INSTANTS = 4;
const ENDPOINTS = 2;
const STATUSES = ['pending', 'succeeded', 'failed', 'cancelled', 'withheld'] as const;
const RUNS = 20;

interface Entry {
  readonly id: string;
  readonly at: number;
  readonly type: string;
  readonly payment: number;
  /** The outcome by endpoint; null where it was not subscribed. */
  readonly outcomes: readonly (Outcome | null)[];
}

interface Outcome {
  readonly first: (typeof STATUSES)[number];
  readonly again: readonly (typeof STATUSES)[number][];
}

let service: TestApp;

beforeAll(async () => {
  service = await startTestApp();
});
afterAll(() => service.close());

const statuses = fc.constantFrom(...STATUSES);
const outcomes = fc.record({ first: statuses, again: fc.array(statuses, { maxLength: 2 }) });
const histories = fc.array(
  fc.record({
    at: fc.nat({ max: INSTANTS - 1 }),
    type: fc.constantFrom(...EVENT_TYPES.slice(0, 3)),
    payment: fc.nat({ max: 1 }),
    outcomes: fc.tuple(fc.option(outcomes), fc.option(outcomes)),
  }),
  { maxLength: 15 },
);
const offsets = fc.integer({ min: -1, max: INSTANTS });
const filters = fc.record(
  {
    type: fc.constantFrom(...EVENT_TYPES.slice(0, 4)),
    payment: fc.nat({ max: 1 }),
    startDate: offsets.map(instant),
    endDate: offsets.map(instant),
    delivered: fc.constant('false'),
    order: fc.constantFrom(...EVENT_ORDERS),
  },
  { requiredKeys: [] },
);
type Filters = typeof filters extends fc.Arbitrary<infer T> ? T : never;

function instant(offset: number): string {
  return new Date(START + offset).toISOString();
}

interface Shop extends MerchantWithKey {
  readonly payments: readonly string[];
  readonly endpoints: readonly string[];
}

async function openShop(): Promise<Shop> {
  const shop = await addMerchant(service);
  const payments: string[] = [];
  const endpoints: string[] = [];
  for (let index = 0; index < ENDPOINTS; index++) {
    const { id } = await addPayment(service.db, shop.merchant, { created_at: new Date(START) });
    payments.push(id);
    const { endpoint } = await createEndpoint(operatorOf(service), service.keyring, {
      merchantId: shop.merchant.id,
      url: `http://127.0.0.1:1/${index}`,
      allowPrivateAddresses: true,
    });
    endpoints.push(endpoint.id);
  }
  return { ...shop, payments, endpoints };
}

/**
 * Writes a history.
 * @returns The expected list: newest first, then by ID.
 */
async function write(shop: Shop, history: readonly Omit<Entry, 'id'>[]): Promise<Entry[]> {
  // Version 4, so that IDs do not imply the order; they sort before all months to come.
  const entries = history.map(entry => ({ ...entry, id: `00${uuidv4().slice(2)}` }));
  if (entries.length === 0) return [];
  await service.db
    .insertInto('events')
    .values(
      entries.map(({ id, at, type, payment }) => ({
        id,
        type,
        merchant_id: shop.merchant.id,
        data: '{}',
        payment_id: shop.payments[payment] ?? null,
        created_at: new Date(START + at),
        traceparent: null,
        tracestate: null,
      })),
    )
    .execute();
  const deliveries = entries.flatMap(({ id, at, outcomes }) =>
    outcomes.flatMap((outcome, index) => {
      if (outcome === null) return [];
      const first = uuidv4();
      return [outcome.first, ...outcome.again].map((status, nth) => ({
        id: nth === 0 ? first : uuidv4(),
        event_id: id,
        status,
        endpoint_id: shop.endpoints[index] ?? '',
        redelivery_of: nth === 0 ? null : first,
        created_at: new Date(START + at + nth),
      }));
    }),
  );
  if (deliveries.length === 0) return sorted(entries);
  await service.db
    .insertInto('webhook_deliveries')
    .values(
      deliveries.map(each => ({ ...each, status: 'pending', next_attempt_at: new Date(START) })),
    )
    .execute();
  for (const status of STATUSES.filter(each => each !== 'pending')) {
    const ended = deliveries.filter(each => each.status === status).map(({ id }) => id);
    if (ended.length === 0) continue;
    await service.db
      .updateTable('webhook_deliveries')
      .set({ status, next_attempt_at: null, finished_at: new Date(START) })
      .where('id', 'in', ended)
      .execute();
  }
  return sorted(entries);
}

function sorted(entries: Entry[]): Entry[] {
  return entries.sort((a, b) => b.at - a.at || (a.id < b.id ? 1 : -1));
}

const isTaken = ({ first, again }: Outcome) => [first, ...again].includes('succeeded');

function matches({ at, type, payment, outcomes }: Entry, query: Filters): boolean {
  return (
    (query.type === undefined || query.type === type) &&
    (query.payment === undefined || query.payment === payment) &&
    (query.startDate === undefined || instant(at) >= query.startDate) &&
    (query.endDate === undefined || instant(at) <= query.endDate) &&
    (query.delivered === undefined || outcomes.some(each => each !== null && !isTaken(each)))
  );
}

async function page(shop: MerchantWithKey, query: Record<string, string>, app = service) {
  const path = `/external/v1/events?${new URLSearchParams(query)}`;
  const response = await send(app, shop, { path });
  expect(response.statusCode, response.body).toBe(200);
  const { data, hasMore } = response.json();
  return { ids: data.map((event: { id: string }) => event.id) as string[], hasMore };
}

test('paging in either direction returns the filtered events in their order', async () => {
  const limits = fc.integer({ min: 1, max: 7 });
  await fc.assert(
    fc.asyncProperty(histories, filters, limits, async (history, query, limit) => {
      const shop = await openShop();
      const all = await write(shop, history);
      const matching = all.filter(entry => matches(entry, query)).map(entry => entry.id);
      const expected = query.order === 'oldest' ? matching.toReversed() : matching;
      const { payment, ...rest } = query;
      const base = {
        ...rest,
        ...(payment === undefined ? {} : { paymentId: shop.payments[payment] ?? '' }),
        limit: String(limit),
      };

      const forwards: string[] = [];
      for (let cursor = {}, more = true; more; ) {
        const { ids, hasMore } = await page(shop, { ...base, ...cursor });
        forwards.push(...ids);
        expect(hasMore).toBe(forwards.length < expected.length);
        more = hasMore;
        cursor = { startingAfter: ids.at(-1) };
      }
      expect(forwards).toEqual(expected);

      // Backwards from the last event of all, whether or not the filters include it.
      const last = query.order === 'oldest' ? all[0] : all.at(-1);
      if (last === undefined) return;
      const before = expected.filter(id => id !== last.id);
      let backwards: string[] = [];
      for (let endingBefore = last.id, more = true; more; ) {
        const { ids, hasMore } = await page(shop, { ...base, endingBefore });
        backwards = [...ids, ...backwards];
        expect(hasMore).toBe(backwards.length < before.length);
        more = hasMore;
        endingBefore = ids[0] ?? endingBefore;
      }
      expect(backwards).toEqual(before);
    }),
    { numRuns: RUNS },
  );
});

/** Months that a history is spread over; the service's clock is in the last but one. */
const MONTHS = 6;
const CLOCK_MONTH = MONTHS - 2;

interface Dated {
  readonly id: string;
  readonly at: number;
}

test('over months, pages return all events in the order of their times, whatever their IDs imply', async () => {
  const first = new Date(START);
  const clock = Object.assign(() => clock.now, {
    now: monthFrom(first, CLOCK_MONTH).getTime(),
  });
  const months = await startTestApp({ clock });
  await makeMonths(months.db, first, monthFrom(first, MONTHS));
  try {
    await fc.assert(
      fc.asyncProperty(
        fc.array(
          fc.record({
            month: fc.nat({ max: MONTHS - 1 }),
            // After the clock was changed, an ID may belong to another month than its time.
            distance: fc.constantFrom(0, 0, 0, -1, 1, 3),
            offset: fc.nat({ max: INSTANTS - 1 }),
            type: fc.constantFrom(...EVENT_TYPES.slice(0, 3)),
          }),
          { maxLength: 25 },
        ),
        fc.integer({ min: 1, max: 7 }),
        fc.constantFrom(...EVENT_ORDERS),
        async (history, limit, order) => {
          const shop = await addMerchant(months);
          const events = history.map(({ month, distance, offset, type }) => {
            const at = monthFrom(first, month + distance).getTime() + offset;
            const time = firstIdOf(monthFrom(first, month).getTime() + offset);
            return { id: `${time.slice(0, 15)}${uuidv4().slice(15)}`, at, type };
          });
          if (events.length > 0) {
            await months.db
              .insertInto('events')
              .values(
                events.map(({ id, at, type }) => ({
                  id,
                  type,
                  merchant_id: shop.merchant.id,
                  data: '{}',
                  payment_id: null,
                  created_at: new Date(at),
                  traceparent: null,
                  tracestate: null,
                })),
              )
              .execute();
          }
          const ordered = events.sort(byTime).map(({ id }) => id);
          const expected = order === 'oldest' ? ordered : ordered.toReversed();
          const found: string[] = [];
          for (let cursor = {}, more = true; more; ) {
            const query = { order, limit: String(limit), ...cursor };
            const { ids, hasMore } = await page(shop, query, months);
            found.push(...ids);
            more = hasMore;
            cursor = { startingAfter: ids.at(-1) };
          }
          expect(found).toEqual(expected);
          const last = expected.at(-1);
          if (last === undefined) return;
          const { ids } = await page(
            shop,
            { order, limit: String(limit), endingBefore: last },
            months,
          );
          expect(ids).toEqual(expected.slice(0, -1).slice(-limit));
        },
      ),
      { numRuns: RUNS },
    );
  } finally {
    await months.close();
  }
});

const byTime = (a: Dated, b: Dated) => a.at - b.at || (a.id < b.id ? -1 : 1);
