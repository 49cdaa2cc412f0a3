import fc from 'fast-check';
import { v4 as uuidv4 } from 'uuid';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { PAYMENT_STATUSES } from '#schemas/payment.ts';
import type { PaymentStatus, SessionStatus } from '#storage/database/payment-tables.ts';
import { addMerchant, type MerchantWithKey } from '../../helpers/accounts.ts';
import { startTestApp, type TestApp } from '../../helpers/app.ts';
import { addPayment } from '../../helpers/payments.ts';
import { send } from '../../helpers/signed-request.ts';

const START = Date.UTC(2026, 2, 1);
/** Few instants, so that most histories have payments created in the same millisecond. */
const INSTANTS = 4;
const RUNS = 20;

const SESSIONS: Readonly<Record<PaymentStatus, SessionStatus>> = {
  pending: 'pending',
  successful: 'completed',
  unsuccessful: 'completed',
  expired: 'expired',
  cancelled: 'cancelled',
};

interface Entry {
  readonly id: string;
  readonly at: number;
  readonly status: PaymentStatus;
  readonly reference: string | null;
}

type Filters = Partial<
  Record<'status' | 'customerReferenceId' | 'createdAfter' | 'createdBefore', string>
>;

let service: TestApp;

beforeAll(async () => {
  service = await startTestApp();
});
afterAll(() => service.close());

const offsets = fc.integer({ min: -1, max: INSTANTS });
const histories = fc.array(
  fc.record({
    at: fc.nat({ max: INSTANTS - 1 }),
    status: fc.constantFrom(...PAYMENT_STATUSES),
    reference: fc.constantFrom(null, 'a', 'b'),
  }),
  { maxLength: 20 },
);
const filters = fc.record(
  {
    status: fc.constantFrom<string>(...PAYMENT_STATUSES),
    customerReferenceId: fc.constantFrom('a', 'b', 'c'),
    createdAfter: offsets.map(instant),
    createdBefore: offsets.map(instant),
  },
  { requiredKeys: [] },
);
const limits = fc.integer({ min: 1, max: 7 });

function instant(offset: number): string {
  return new Date(START + offset).toISOString();
}

/**
 * Writes a history.
 * @returns The expected list: newest first, then by ID.
 */
async function write(
  shop: MerchantWithKey,
  history: readonly Omit<Entry, 'id'>[],
): Promise<Entry[]> {
  const entries: Entry[] = [];
  for (const entry of history) {
    const created_at = new Date(START + entry.at);
    const { id } = await addPayment(service.db, shop.merchant, {
      // Version 4, so that IDs do not imply the order of creation.
      id: uuidv4(),
      created_at,
      status: entry.status,
      session_status: SESSIONS[entry.status],
      paid_at: entry.status === 'successful' ? created_at : null,
      customer_reference_id: entry.reference,
    });
    entries.push({ ...entry, id });
  }
  return entries.sort((a, b) => b.at - a.at || (a.id < b.id ? 1 : -1));
}

function matches({ at, status, reference }: Entry, query: Filters): boolean {
  return (
    (query.status === undefined || query.status === status) &&
    (query.customerReferenceId === undefined || query.customerReferenceId === reference) &&
    (query.createdAfter === undefined || instant(at) > query.createdAfter) &&
    (query.createdBefore === undefined || instant(at) < query.createdBefore)
  );
}

async function page(shop: MerchantWithKey, query: Record<string, string>) {
  const path = `/external/v1/payments?${new URLSearchParams(query)}`;
  const response = await send(service, shop, { path });
  expect(response.statusCode, response.body).toBe(200);
  const { data, hasMore } = response.json();
  return { ids: data.map((payment: { id: string }) => payment.id) as string[], hasMore };
}

test('paging in either direction returns the filtered history, newest first', async () => {
  const shop = await addMerchant(service);
  await fc.assert(
    fc.asyncProperty(histories, filters, limits, async (history, query, limit) => {
      const merchant = { ...shop, ...(await addMerchant(service)) };
      const all = await write(merchant, history);
      const expected = all.filter(entry => matches(entry, query)).map(entry => entry.id);
      const base = { ...query, limit: String(limit) };

      const forwards: string[] = [];
      for (let cursor = {}, more = true; more; ) {
        const { ids, hasMore } = await page(merchant, { ...base, ...cursor });
        expect(ids).toEqual(expected.slice(forwards.length, forwards.length + limit));
        forwards.push(...ids);
        expect(hasMore).toBe(forwards.length < expected.length);
        more = hasMore;
        cursor = { startingAfter: ids.at(-1) };
      }
      expect(forwards).toEqual(expected);

      // From the oldest payment of all, whether or not the filters include it.
      const oldest = all.at(-1);
      if (oldest === undefined) return;
      const newer = expected.filter(id => id !== oldest.id);
      let backwards: string[] = [];
      for (let endingBefore = oldest.id, more = true; more; ) {
        const { ids, hasMore } = await page(merchant, { ...base, endingBefore });
        backwards = [...ids, ...backwards];
        expect(backwards).toEqual(newer.slice(newer.length - backwards.length));
        expect(hasMore).toBe(backwards.length < newer.length);
        more = hasMore;
        endingBefore = ids[0] ?? endingBefore;
      }
      expect(backwards).toEqual(newer);
    }),
    { numRuns: RUNS },
  );
});

test('every payment is a cursor in both directions, at any place among payments of the same time', async () => {
  await fc.assert(
    fc.asyncProperty(histories, limits, async (history, limit) => {
      const shop = await addMerchant(service);
      const ids = (await write(shop, history)).map(entry => entry.id);
      const base = { limit: String(limit) };
      for (const [index, id] of ids.entries()) {
        expect(await page(shop, { ...base, startingAfter: id })).toEqual({
          ids: ids.slice(index + 1, index + 1 + limit),
          hasMore: ids.length > index + 1 + limit,
        });
        expect(await page(shop, { ...base, endingBefore: id })).toEqual({
          ids: ids.slice(Math.max(0, index - limit), index),
          hasMore: index > limit,
        });
      }
    }),
    { numRuns: RUNS / 4 },
  );
});
