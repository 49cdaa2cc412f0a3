import fc from 'fast-check';
import { sql } from 'kysely';
import { afterAll, beforeAll, expect, test } from 'vitest';
import {
  listPaymentReports,
  type PartnerPaymentReportQuery,
  readPaymentReportPages,
} from '#reports/partners/payment-reports.ts';
import type { Merchant } from '#storage/database/account-tables.ts';
import { foldPartnerDeltas } from '#storage/repositories/partners/deltas.ts';
import { ADDRESSES, addMerchant, addPartner, type PartnerWithKey } from '../../helpers/accounts.ts';
import { startTestApp, type TestApp } from '../../helpers/app.ts';
import { addPayment } from '../../helpers/payments.ts';
import { runs } from '../../helpers/property-runs.ts';

const PAYMENTS = 120;
const REFERENCES = [
  ...['a%b', 'A_b', 'ab\\', 'order-1', 'order-10', 'abab', 'ä🧾ä', 'İZ-Äb', ''],
  null,
];

let service: TestApp;
let partner: PartnerWithKey;
let merchants: Merchant[];

beforeAll(async () => {
  service = await startTestApp();
  partner = await addPartner(service);
  const partnerId = partner.partner.id;
  merchants = [];
  for (const name of ['abba', 'Order House', '%', 'zzz']) {
    merchants.push((await addMerchant(service, { partnerId, name })).merchant);
  }
  for (let index = 0; index < PAYMENTS; index++) {
    const merchant = merchants[index % merchants.length];
    if (merchant === undefined) throw new Error('no merchant');
    const chosen = index % 3 === 0;
    await addPayment(service.db, merchant, {
      // Several at each instant, so that the ID matters as well.
      created_at: new Date(service.clock.now + Math.floor(index / 4) * 1000),
      customer_reference_id: REFERENCES[index % REFERENCES.length] ?? null,
      ...(chosen ? { blockchain_id: 'btc', address: ADDRESSES.btc } : {}),
      transaction_hash: chosen ? `${index}ab0rder`.padEnd(64, 'Ab') : null,
      ...(index % 5 === 0 ? { status: 'expired', session_status: 'expired' } : {}),
    });
  }
  await foldPartnerDeltas(service.db, PAYMENTS - 10);
});
afterAll(() => service.close());

const term = fc.oneof(
  fc.constantFrom(
    'a',
    'ab',
    'order',
    'ORDER-1',
    '%',
    '_',
    '\\',
    'bc1q',
    'ä',
    'Äb',
    'iz',
    'Z-',
    '🧾',
    '-7',
    '0rder',
    'zz',
  ),
  fc
    .array(fc.constantFrom('a', 'b', '%', '_', 'o', '-', '1', '0', '9'), {
      minLength: 1,
      maxLength: 15,
    })
    .map(characters => characters.join('')),
);

/** Often a few, like a page of a history. */
const some = fc.oneof(fc.integer({ min: 1, max: 15 }), fc.integer({ min: 1, max: PAYMENTS + 10 }));
/** Depths in all relations to each other and to the number of payments. */
const depths = fc.record({ few: some, compared: some, found: some });
const limits = fc.oneof(fc.integer({ min: 4, max: 8 }), fc.integer({ min: 5, max: 30 }));

const FILTERS = ['search', 'merchantName', 'addressSearch', 'txHash', 'transactionId'] as const;

interface Asked {
  readonly filter: (typeof FILTERS)[number];
  readonly text: string;
  readonly rest: Pick<
    PartnerPaymentReportQuery,
    'blockchainId' | 'merchantId' | 'status' | 'startDate' | 'endDate'
  >;
}

/** A time within the history. */
const time = fc.nat(PAYMENTS / 4).map(seconds => new Date(service.clock.now + seconds * 1000));

const asked: fc.Arbitrary<Asked> = fc.record({
  filter: fc.constantFrom('search', ...FILTERS),
  text: term,
  rest: fc.oneof(
    fc.constant({}),
    fc.record(
      {
        blockchainId: fc.constant('btc' as const),
        merchantId: fc.nat(1).map(index => merchants[index]?.id ?? ''),
        status: fc.constantFrom('pending' as const, 'expired' as const),
        startDate: time,
        endDate: time,
      },
      { requiredKeys: [] },
    ),
  ),
});

test('search, names, addresses and hashes match a plain scan, on every page', async () => {
  await fc.assert(
    fc.asyncProperty(asked, limits, depths, async ({ filter, text, rest }, limit, depth) => {
      const expected = await scan(filter, text, rest);
      const seen: string[] = [];
      for (let page = 1; ; page++) {
        const found = await listPaymentReports(
          ...[service.db, partner.partner.id],
          { ...rest, [filter]: text, limit, page },
          depth,
        );
        seen.push(...found.data.map(row => row.id));
        expect(found.total).toBe(expected.length);
        if (page * limit >= found.total) break;
      }
      expect(seen).toEqual(expected);
    }),
    {
      numRuns: runs(100),
      // By counting, by the index, by counting what the index found too many of, and by comparing.
      examples: [
        { few: 5, compared: 1, found: 1 },
        { few: 1, compared: 1, found: PAYMENTS },
        { few: 1, compared: 1, found: 3 },
        { few: 1, compared: PAYMENTS, found: PAYMENTS },
      ].map(each => [{ filter: 'search', text: 'order', rest: {} }, 15, each]),
    },
  );
});

test('files have the same rows as a plain scan', async () => {
  await fc.assert(
    fc.asyncProperty(asked, limits, depths, async ({ filter, text, rest }, limit, depth) => {
      const query = { ...rest, [filter]: text };
      const seen: string[] = [];
      for await (const { data } of readPaymentReportPages(
        ...[service.db, partner.partner.id],
        query,
        limit,
        depth,
      )) {
        seen.push(...data.map(row => row.id));
      }
      expect(seen).toEqual(await scan(filter, text, rest));
    }),
    { numRuns: runs(100) },
  );
});

test.each([
  ['an ID', '01890000-0000-7000-8000-000000000abc'],
  ['a hash', `0x${'ab'.repeat(32)}`],
  ['a reference', 'subscription-2026-1'],
])('%s is found where it is the whole, and where it is part of a reference', async (_, text) => {
  const [merchant] = merchants;
  if (merchant === undefined) throw new Error('no merchant');
  const created_at = new Date(service.clock.now + 3_600_000);
  const add = async (values: object) =>
    (await addPayment(service.db, merchant, { created_at, ...values })).id;
  const expected = [
    await add({ customer_reference_id: text }),
    await add({ customer_reference_id: `renewal of ${text.toUpperCase()}.` }),
    ...(text.startsWith('0x') ? [await add({ transaction_hash: text })] : []),
    ...(text.startsWith('0189') ? [await add({ id: text })] : []),
  ];
  const { data, total } = await listPaymentReports(service.db, partner.partner.id, {
    search: text,
  });
  expect(data.map(row => row.id).sort()).toEqual(expected.sort());
  expect(total).toBe(expected.length);
});

const COLUMNS: Readonly<Record<Asked['filter'], readonly string[]>> = {
  search: [
    ...['m.name', 'm.id::text', 'p.id::text'],
    ...['address', 'transaction_hash', 'customer_reference_id'],
  ],
  merchantName: ['m.name'],
  addressSearch: ['address'],
  txHash: ['transaction_hash'],
  transactionId: ['p.id::text'],
};

/** What the filters mean, in the simplest SQL. */
async function scan(
  filter: Asked['filter'],
  text: string,
  { blockchainId, merchantId, status, startDate, endDate }: Asked['rest'],
): Promise<string[]> {
  const pattern = `%${text.replace(/[\\%_]/g, '\\$&')}%`;
  const matches = COLUMNS[filter].map(column => sql`${sql.raw(column)} ilike ${pattern}`);
  const { rows } = await sql<{ id: string }>`
    select p.id from payments p join merchants m on m.id = p.merchant_id
    where p.partner_id = ${partner.partner.id} and (${sql.join(matches, sql` or `)})
      and p.blockchain_id is not distinct from coalesce(${blockchainId ?? null}, p.blockchain_id)
      and p.merchant_id = coalesce(${merchantId ?? null}::uuid, p.merchant_id)
      and p.status = coalesce(${status ?? null}, p.status)
      and p.created_at >= coalesce(${startDate ?? null}::timestamptz, '-infinity')
      and p.created_at <= coalesce(${endDate ?? null}::timestamptz, 'infinity')
    order by p.created_at desc, p.id desc`.execute(service.db);
  return rows.map(row => row.id);
}
