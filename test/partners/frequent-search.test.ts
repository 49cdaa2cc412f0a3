import { sql } from 'kysely';
import pg from 'pg';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { insertPayments } from '../../bench/payment-history.ts';
import { sessionConfig } from '../../src/database/session.ts';
import {
  listPaymentReports,
  type PartnerPaymentReportQuery,
} from '../../src/partners/payment-reports.ts';
import { ADDRESSES, addMerchant, addPartner, type PartnerWithKey } from '../helpers/accounts.ts';
import { startTestApp, type TestApp } from '../helpers/app.ts';
import { addPayment } from '../helpers/payments.ts';

/** Searches in more payments than are looked through, which small depths make of a few thousand. */

const depths = { few: 50, many: 1_000, manyRows: 500, frequent: 10 };

const PAYMENTS = 3_000;

/** A payment that is older than any that are looked through. */
const OLD = {
  id: '016f5e66-e800-7000-8000-0123456789ab',
  customer_reference_id: 'Invoice 2019-0000047/b',
  transaction_hash: '5f'.repeat(32),
};
const NAMED = Object.entries({
  ID: OLD.id,
  hash: OLD.transaction_hash,
  'hash in capitals': OLD.transaction_hash.toUpperCase(),
  reference: OLD.customer_reference_id,
  'part of a reference': 'nvoice 2019-0000047',
  'short part': '47/B',
});

/** As the service connects for its reports. */
const REPORTS = { applicationName: 'test', plans: 'by-index' } as const;

let service: TestApp;
let partner: PartnerWithKey;
let merchantId: string;

const list = (query: PartnerPaymentReportQuery) =>
  listPaymentReports(service.db, partner.partner.id, query, depths);
/** How many of the partner's payments there are that meet a condition. */
const count = async (condition: ReturnType<typeof sql>) => {
  const { rows } = await sql<{ payments: number }>`
    select count(*) as payments from payments
    where partner_id = ${partner.partner.id} and ${condition}`.execute(service.db);
  return rows[0]?.payments ?? 0;
};

beforeAll(async () => {
  service = await startTestApp();
  partner = await addPartner(service);
  const { id: partnerId } = partner.partner;
  const { merchant } = await addMerchant(service, { partnerId, name: 'Blue Coffee' });
  merchantId = merchant.id;
  await insertPayments(service.db, PAYMENTS, {
    ...{ merchants: 1, link: { partnerId, merchants: 1 } },
  });
  await addPayment(service.db, merchant, {
    ...{ ...OLD, created_at: new Date('2020-01-01') },
    ...{ blockchain_id: 'btc', address: ADDRESSES.btc },
  });
  await sql`vacuum (analyze) payments`.execute(service.db);
});
afterAll(() => service.close());

test('what too many payments contain is not counted wholly, and the response says so', async () => {
  const page = await list({ search: 'ORD-2026' });
  expect(page).toMatchObject({ total: depths.many, totalIsExact: false, page: 1, limit: 20 });
  expect(page.data).toHaveLength(20);
  // Rows that have to be fetched are fewer.
  const some = await list({ search: 'ORD-2026', status: 'successful' });
  expect(some).toMatchObject({ total: depths.manyRows, totalIsExact: false });
});

test('reading on until the total misses none', async () => {
  const expected = await count(sql`status = 'successful' and customer_reference_id like '%7%'`);
  const seen = new Set<string>();
  let last = { total: Number.POSITIVE_INFINITY, totalIsExact: false };
  for (let page = 1; (page - 1) * 100 < last.total; page++) {
    const { data, ...rest } = await list({ search: '7', status: 'successful', limit: 100, page });
    for (const { id } of data) seen.add(id);
    last = rest;
  }
  expect(last.totalIsExact).toBe(true);
  expect(seen.size).toBe(last.total);
  expect(seen.size).toBeGreaterThanOrEqual(expected);
});

test.each(NAMED)('a payment that is looked for by its %s is counted exactly', async (_, search) => {
  const { data, total, totalIsExact } = await list({ search });
  expect(data.map(({ id }) => id)).toEqual([OLD.id]);
  expect({ total, totalIsExact }).toEqual({ total: 1, totalIsExact: true });
});

test('addresses, names and IDs of merchants are counted exactly, however many payments they have', async () => {
  for (const search of ['Blue Coffee', merchantId, ADDRESSES.btc]) {
    const { data, ...page } = await list({ search });
    const total = search === ADDRESSES.btc ? 1 : PAYMENTS + 1;
    expect({ search, ...page }).toMatchObject({ search, total, totalIsExact: true });
    expect(data).toHaveLength(Math.min(total, 20));
  }
});

test('between dates with few payments all are looked at', async () => {
  const day = 24 * 60 * 60_000;
  const from = new Date(Date.now() - 50 * day);
  const to = new Date(Date.now() - 20 * day);
  const { total, totalIsExact } = await list({
    ...{ search: 'ORD-2026', startDate: from, endDate: to },
  });
  expect(totalIsExact).toBe(true);
  expect(total).toBe(await count(sql`created_at between ${from} and ${to}`));
  expect(total).toBeGreaterThan(100);
});

test('a search reads the newest in the order of their index, and else what the index of texts finds', async () => {
  const session = new pg.Client(sessionConfig({ url: service.databaseUrl, ...REPORTS }));
  await session.connect();
  const plansOf = async (search: string) => {
    const query = vi.spyOn(pg.Client.prototype, 'query');
    await list({ search });
    const sent = query.mock.calls.map(([given]) => given as unknown as pg.QueryConfig);
    query.mockRestore();
    // Not the statements that find what the text means, nor which server a new connection has.
    const searches = sent.filter(({ text }) => text.includes('matching'));
    const plans: string[] = [];
    for (const { text, values = [] } of searches) {
      const { rows } = await session.query(`explain ${text}`, values);
      plans.push(rows.map(row => row['QUERY PLAN']).join('\n'));
    }
    return plans;
  };
  try {
    const frequent = await plansOf('ORD-2026');
    expect(frequent).toHaveLength(2);
    for (const plan of frequent) {
      expect(plan.match(/Index Only Scan using payments_partner on payments/g)).toHaveLength(2);
      expect(plan).not.toMatch(/payments_partner_text|Seq Scan on payments/);
    }
    const [, rare] = await plansOf(OLD.customer_reference_id);
    expect(rare).toContain('payments_partner_text');
    expect(rare).not.toContain('Seq Scan on payments');
  } finally {
    await session.end();
  }
});
