import { sql } from 'kysely';
import pg from 'pg';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import {
  listPaymentReports,
  type PartnerPaymentReportQuery,
} from '#reports/partners/payment-reports.ts';
import { sessionConfig } from '#storage/database/session.ts';
import { insertPayments } from '../../../bench/payment-history.ts';
import { ADDRESSES, addMerchant, addPartner, type PartnerWithKey } from '../../helpers/accounts.ts';
import { startTestApp, type TestApp } from '../../helpers/app.ts';
import { addPayment } from '../../helpers/payments.ts';

/** Searches among more payments than are compared one by one; small depths achieve that with a few thousand. */

const depths = { few: 50, compared: 500, found: 100 };

const PAYMENTS = 3_000;

/** A payment older than any that are compared. */
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

/** The service's connection settings for reports. */
const REPORTS = { applicationName: 'test', plans: 'by-index' } as const;

let service: TestApp;
let partner: PartnerWithKey;
let merchantId: string;

const list = (query: PartnerPaymentReportQuery) =>
  listPaymentReports(service.db, partner.partner.id, query, depths);
/** The number of the partner's payments that meet a condition. */
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
    merchants: 1,
    link: { partnerId, merchants: 1 },
  });
  await addPayment(service.db, merchant, {
    ...OLD,
    created_at: new Date('2020-01-01'),
    blockchain_id: 'btc',
    address: ADDRESSES.btc,
  });
  await sql`vacuum (analyze) payments`.execute(service.db);
});
afterAll(() => service.close());

test('a text in very many payments is counted completely', async () => {
  expect(await list({ search: 'ORD-2026' })).toMatchObject({ total: PAYMENTS, page: 1, limit: 20 });
  const some = await list({ search: 'ORD-2026', status: 'successful' });
  expect(some.total).toBe(await count(sql`status = 'successful' and id <> ${OLD.id}`));
  expect(some.data).toHaveLength(20);
});

test('a page beyond the last has the total as well', async () => {
  const { data, total } = await list({ search: 'ORD-2026', page: 1_000 });
  expect({ rows: data.length, total }).toEqual({ rows: 0, total: PAYMENTS });
});

test('paging up to the total misses none', async () => {
  const expected = await count(sql`status = 'successful' and customer_reference_id like '%7%'`);
  const seen = new Set<string>();
  const totals = new Set<number>();
  for (let page = 1, total = 1; (page - 1) * 100 < total; page++) {
    const read = await list({ search: '7', status: 'successful', limit: 100, page });
    for (const { id } of read.data) seen.add(id);
    total = read.total;
    totals.add(total);
  }
  expect([...totals]).toEqual([seen.size]);
  expect(seen.size).toBeGreaterThanOrEqual(expected);
});

test('a text that only old payments have is found, and counted', async () => {
  // Payments are numbered from the newest: none of those that each search examines has it.
  const oldest = `ORD-2026-0000002`;
  const { data, total } = await list({ search: oldest });
  expect(total).toBe(await count(sql`customer_reference_id like ${`${oldest}%`}`));
  expect(total).toBe(1_000);
  expect(data[0]?.customerReferenceId).toBe(`${oldest}000`);
});

test.each(NAMED)('a payment that is searched by its %s is counted exactly', async (_, search) => {
  const { data, total } = await list({ search });
  expect(data.map(({ id }) => id)).toEqual([OLD.id]);
  expect(total).toBe(1);
});

test('addresses, names and IDs of merchants are counted, however many payments they have', async () => {
  for (const search of ['Blue Coffee', merchantId, ADDRESSES.btc]) {
    const { data, ...page } = await list({ search });
    const total = search === ADDRESSES.btc ? 1 : PAYMENTS + 1;
    expect({ search, ...page }).toMatchObject({ search, total });
    expect(data).toHaveLength(Math.min(total, 20));
  }
});

test('between dates, only payments created between them are counted', async () => {
  const day = 24 * 60 * 60_000;
  const from = new Date(Date.now() - 50 * day);
  const to = new Date(Date.now() - 20 * day);
  const { total } = await list({ search: 'ORD-2026', startDate: from, endDate: to });
  expect(total).toBe(await count(sql`created_at between ${from} and ${to}`));
  expect(total).toBeGreaterThan(100);
});

test('a search compares payments in index order, or else uses the text index', async () => {
  const session = new pg.Client(sessionConfig({ url: service.databaseUrl, ...REPORTS }));
  await session.connect();
  const plansOf = async (query: PartnerPaymentReportQuery) => {
    const spy = vi.spyOn(pg.Client.prototype, 'query');
    await list(query);
    const sent = spy.mock.calls.map(([given]) => given as unknown as pg.QueryConfig);
    spy.mockRestore();
    const plans: string[] = [];
    for (const { text, values = [] } of sent) {
      if (/^\s*(start|commit|set|select set_config)/.test(text)) await session.query(text, values);
      // Without the statements that resolve the search text, and the role check of a new connection.
      if (!/matching|strpos/.test(text)) continue;
      const { rows } = await session.query(`explain ${text}`, values);
      plans.push(rows.map(row => row['QUERY PLAN']).join('\n'));
    }
    return plans;
  };
  try {
    const frequent = await plansOf({ search: 'ORD-2026' });
    expect(frequent).toHaveLength(3);
    for (const plan of frequent) {
      // So few payments can be read from the table as quickly as from the text index.
      expect(plan).toMatch(/Index (Only )?Scan using payments_partner\w* on payments/);
      expect(plan).not.toMatch(/payments_partner_text|Seq Scan on payments|Bitmap.* on payments/);
    }
    const [newest, sparse] = await plansOf({ search: '#!' });
    expect(newest).toMatch(/Index Only Scan using payments_partner on payments/);
    expect(sparse).not.toMatch(/payments_partner_text|Seq Scan on payments|Bitmap.* on payments/);
    const [, rare] = await plansOf({ search: OLD.customer_reference_id });
    expect(rare).toContain('payments_partner_text');
    expect(rare).not.toContain('Seq Scan on payments');
  } finally {
    await session.end();
  }
});
