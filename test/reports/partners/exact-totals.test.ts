import fc from 'fast-check';
import { sql } from 'kysely';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { readCommissionPage } from '#reports/partners/commission.ts';
import { listMerchantReports, readMerchantReport } from '#reports/partners/merchant-reports.ts';
import { readOverview } from '#reports/partners/overview.ts';
import { listPaymentReports } from '#reports/partners/payment-reports.ts';
import { verifyPartner } from '#reports/partners/verify-rollups.ts';
import type { Merchant } from '#storage/database/account-tables.ts';
import type { PaymentStatus, SessionStatus } from '#storage/database/payment-tables.ts';
import { foldPartnerDeltas } from '#storage/repositories/partners/deltas.ts';
import { type PaidDay, sumPaidByDay } from '#storage/repositories/payments/paid-figures.ts';
import { startOfMonth, utcMonth } from '#time/months.ts';
import { ADDRESSES, addMerchant, addPartner, type PartnerWithKey } from '../../helpers/accounts.ts';
import { startTestApp, type TestApp } from '../../helpers/app.ts';
import { addPayment } from '../../helpers/payments.ts';
import { runs } from '../../helpers/property-runs.ts';

const DAY_MS = 24 * 60 * 60 * 1000;

let service: TestApp;
let partner: PartnerWithKey;
let merchants: Merchant[];

beforeAll(async () => {
  service = await startTestApp();
});
afterAll(() => service.close());

type Action =
  | { kind: 'create'; merchant: number; amount: number; daysAgo: number }
  | { kind: 'choose'; which: number; network: 'btc' | 'eth' }
  | {
      kind: 'settle';
      which: number;
      status: PaymentStatus;
      daysAgo: number;
      /** Milliseconds from the beginning of that day's UTC month, to test its edge; null otherwise. */
      edge: number | null;
      commission: number | null;
    }
  | { kind: 'charge'; which: number; commission: number | null }
  | { kind: 'fold'; limit: number };

/** Cents. */
const commission = fc.option(fc.nat(2_000_000));

const actions = fc.array(
  fc.oneof(
    {
      weight: 5,
      arbitrary: fc.record({
        kind: fc.constant('create' as const),
        merchant: fc.nat(3),
        amount: fc.integer({ min: 50, max: 100_000_000 }),
        daysAgo: fc.nat(40),
      }),
    },
    {
      weight: 3,
      arbitrary: fc.record({
        kind: fc.constant('choose' as const),
        which: fc.nat(60),
        network: fc.constantFrom('btc' as const, 'eth' as const),
      }),
    },
    {
      weight: 4,
      arbitrary: fc.record({
        kind: fc.constant('settle' as const),
        which: fc.nat(60),
        status: fc.constantFrom<PaymentStatus>(
          'successful',
          'successful',
          'unsuccessful',
          'expired',
          'cancelled',
        ),
        daysAgo: fc.nat(40),
        edge: fc.constantFrom(null, null, -1, 0),
        commission,
      }),
    },
    {
      weight: 2,
      arbitrary: fc.record({ kind: fc.constant('charge' as const), which: fc.nat(60), commission }),
    },
    {
      weight: 2,
      arbitrary: fc.record({ kind: fc.constant('fold' as const), limit: fc.nat(7) }),
    },
  ),
  { minLength: 1, maxLength: 60 },
);

const SESSION: Record<PaymentStatus, SessionStatus> = {
  pending: 'pending',
  successful: 'completed',
  unsuccessful: 'completed',
  expired: 'expired',
  cancelled: 'cancelled',
};

test('every figure agrees with plain aggregates after any history, with concurrent actors too', async () => {
  await fc.assert(
    fc.asyncProperty(actions, fc.integer({ min: 1, max: 8 }), async (history, actors) => {
      partner = await addPartner(service);
      const partnerId = partner.partner.id;
      merchants = [];
      for (const name of ['One', 'Two', 'Three']) {
        merchants.push((await addMerchant(service, { partnerId, name })).merchant);
      }
      const tested = { environment: 'test', addresses: {} } as const;
      merchants.push((await addMerchant(service, { partnerId, name: 'Four', ...tested })).merchant);
      for (let start = 0; start < history.length; start += actors) {
        await Promise.all(history.slice(start, start + actors).map(act));
        if (start % (actors * 4) === 0) await compareOverview(partnerId);
      }
      await compareOverview(partnerId);
      await compareLists(partnerId);
      await compareMerchants(partnerId);
      await compareMonths(partnerId);
      await compareDays();
      expect(await verifyPartner(service.db, partnerId)).toEqual([]);
    }),
    { numRuns: runs(12) },
  );
});

test('verification names a wrong figure', async () => {
  partner = await addPartner(service);
  const partnerId = partner.partner.id;
  const { merchant } = await addMerchant(service, { partnerId });
  await addPayment(service.db, merchant, { created_at: new Date(service.clock.now), amount: 70 });
  await foldPartnerDeltas(service.db, 1000);
  await sql`update partner_totals set cents = cents + 1 where partner_id = ${partnerId}`.execute(
    service.db,
  );
  expect(await verifyPartner(service.db, partnerId)).toEqual([
    {
      rollup: 'totals',
      figure: `merchant ${merchant.id} pending`,
      paymentsCounted: 1,
      paymentsRolledUp: 1,
      centsCounted: 70,
      centsRolledUp: 71,
    },
  ]);
});

test('verification names a wrong commission', async () => {
  partner = await addPartner(service);
  const partnerId = partner.partner.id;
  const { merchant } = await addMerchant(service, { partnerId });
  const paid = { status: 'successful', session_status: 'completed' } as const;
  const now = new Date(service.clock.now);
  for (const cents of [12, null, 30]) {
    const columns = { created_at: now, paid_at: now, commission_amount: cents };
    await addPayment(service.db, merchant, { ...columns, ...paid });
  }
  await foldPartnerDeltas(service.db, 1000);
  expect(await verifyPartner(service.db, partnerId)).toEqual([]);
  await sql`
    update partner_commissions set cents = 41 where partner_id = ${partnerId}`.execute(service.db);
  expect(await verifyPartner(service.db, partnerId)).toEqual([
    {
      rollup: 'commissions',
      figure: `merchant ${merchant.id}`,
      paymentsCounted: 0,
      paymentsRolledUp: 0,
      centsCounted: 42,
      centsRolledUp: 41,
    },
  ]);
});

test('concurrent creations of one partner do not wait for each other', async () => {
  partner = await addPartner(service);
  const { merchant } = await addMerchant(service, { partnerId: partner.partner.id });
  const created_at = new Date(service.clock.now);
  await service.db.transaction().execute(async open => {
    await addPayment(open as typeof service.db, merchant, { created_at });
    // Would block until the open transaction ends, if both had to change one row.
    await sql`set local lock_timeout = '2s'`.execute(open);
    await service.db.transaction().execute(async second => {
      await sql`set local lock_timeout = '2s'`.execute(second);
      await addPayment(second as typeof service.db, merchant, { created_at });
    });
  });
  await Promise.all([1, 2, 3].map(() => foldPartnerDeltas(service.db, 10)));
  expect(await verifyPartner(service.db, partner.partner.id)).toEqual([]);
});

async function act(action: Action): Promise<void> {
  const daysAgo = (days: number) => new Date(service.clock.now - days * DAY_MS);
  const paidAt = (settled: { daysAgo: number; edge: number | null }) => {
    const day = daysAgo(settled.daysAgo);
    if (settled.edge === null) return day;
    return new Date(startOfMonth(utcMonth(day)).getTime() + settled.edge);
  };
  if (action.kind === 'create') {
    const merchant = merchants[action.merchant];
    if (merchant === undefined) throw new Error('no merchant');
    await addPayment(service.db, merchant, {
      amount: action.amount,
      created_at: daysAgo(action.daysAgo),
    });
  } else if (action.kind === 'fold') {
    await foldPartnerDeltas(service.db, action.limit);
  } else if (action.kind === 'charge') {
    await sql`
      update payments set commission_amount = ${action.commission} where id = (
        select id from payments where partner_id = ${partner.partner.id}
        order by id offset ${action.which % 8} limit 1)`.execute(service.db);
  } else {
    const { rows } = await sql<{ id: string }>`
      select id from payments where partner_id = ${partner.partner.id} and status = 'pending'
      order by id offset ${action.which % 8} limit 1`.execute(service.db);
    const id = rows[0]?.id;
    if (id === undefined) return;
    const change =
      action.kind === 'choose'
        ? { blockchain_id: action.network, address: ADDRESSES[action.network] }
        : {
            status: action.status,
            session_status: SESSION[action.status],
            paid_at: action.status === 'successful' ? paidAt(action) : null,
            commission_amount: action.commission,
          };
    await service.db
      .updateTable('payments')
      .set(change)
      .where('id', '=', id)
      .where('status', '=', 'pending')
      .execute();
  }
}

/** The plain aggregate for a figure. */
async function plain(
  condition: ReturnType<typeof sql>,
): Promise<{ payments: number; cents: number; commission: number }> {
  const { rows } = await sql<{ payments: number; cents: string; commission: string }>`
    select count(*) as payments, coalesce(sum(amount), 0) as cents,
           coalesce(sum(commission_amount), 0) as commission from payments
    where partner_id = ${partner.partner.id} and ${condition}`.execute(service.db);
  const [{ payments, cents, commission } = { payments: 0, cents: '0', commission: '0' }] = rows;
  return { payments, cents: Number(cents), commission: Number(commission) };
}

const dollars = (cents: number) => cents / 100;
/** Whether a payment is of a live merchant; the last of the merchants is a test merchant. */
const isLive = () => sql`merchant_id <> ${merchants.at(-1)?.id}`;
const recently = () =>
  sql`status = 'successful' and (paid_at at time zone 'UTC')::date > (${new Date(service.clock.now)}::timestamptz at time zone 'UTC')::date - 30`;

async function compareOverview(partnerId: string): Promise<void> {
  const { metrics, volumeTrend } = await readOverview(
    service.db,
    partnerId,
    new Date(service.clock.now),
  );
  expect(metrics.totalMerchants).toBe(merchants.length - 1);
  expect(metrics.totalPayments).toBe((await plain(isLive())).payments);
  const paidOff = await plain(sql`${isLive()} and status = 'successful'`);
  expect(metrics.totalVolume).toBe(dollars(paidOff.cents));
  expect(metrics.totalCommission).toBe(dollars(paidOff.commission));
  expect(metrics.volume30d).toBe(dollars((await plain(sql`${isLive()} and ${recently()}`)).cents));
  const { rows } = await sql<{ date: string; payments: number; cents: string }>`
    select (paid_at at time zone 'UTC')::date::text as date, count(*) as payments, sum(amount) as cents
    from payments where partner_id = ${partnerId} and ${isLive()} and status = 'successful'
    group by 1`.execute(service.db);
  const paid = new Map(rows.map(({ date, ...sums }) => [date, sums]));
  for (const day of volumeTrend) {
    const { payments = 0, cents = '0' } = paid.get(day.date) ?? {};
    expect(day).toEqual({ date: day.date, volume: dollars(Number(cents)), payments });
  }
}

async function compareLists(partnerId: string): Promise<void> {
  const statuses = [undefined, 'pending', 'successful', 'expired'] as const;
  for (const status of statuses) {
    for (const blockchainId of [undefined, 'btc'] as const) {
      for (const merchant of [undefined, merchants[0]]) {
        const query = {
          ...(status && { status }),
          ...(blockchainId && { blockchainId }),
          ...(merchant && { merchantId: merchant.id }),
        };
        const { total, data } = await listPaymentReports(service.db, partnerId, {
          ...query,
          limit: 100,
        });
        const conditions = [
          status ? sql`status = ${status}` : sql`true`,
          blockchainId ? sql`blockchain_id = ${blockchainId}` : sql`true`,
          merchant ? sql`merchant_id = ${merchant.id}` : sql`true`,
        ];
        expect(total).toBe((await plain(sql.join(conditions, sql` and `))).payments);
        expect(data).toHaveLength(total);
      }
    }
  }
}

/** Checks that all payments to live merchants are in their UTC month, with the commission of their record. */
async function compareMonths(partnerId: string): Promise<void> {
  const now = new Date(service.clock.now);
  const paid = sql`${isLive()} and status = 'successful' and to_char(paid_at at time zone 'UTC', 'YYYY-MM')`;
  const all = { cents: 0, commission: 0 };
  const { months } = await readCommissionPage(service.db, partnerId, '2026-01', { limit: 1, now });
  for (const month of months) {
    const expected = await plain(sql`${paid} = ${month}`);
    const window = { limit: 100, now };
    const { rows, total } = await readCommissionPage(service.db, partnerId, month, window);
    expect(total).toEqual({
      payments: expected.payments,
      volumeCents: expected.cents,
      commissionCents: expected.commission,
    });
    for (const row of rows) {
      const own = await plain(sql`${paid} = ${month} and merchant_id = ${row.merchantId}`);
      expect(row).toMatchObject({ payments: own.payments, volumeCents: own.cents });
      expect(row.commissionCents).toBe(own.commission);
      expect(row.owedBy).toBe(own.commission > 0 ? row.merchantName : null);
    }
    expect(rows.reduce((sum, row) => sum + row.payments, 0)).toBe(expected.payments);
    all.cents += total.volumeCents;
    all.commission += total.commissionCents;
  }
  const { metrics } = await readOverview(service.db, partnerId, now);
  expect(metrics.totalVolume).toBe(dollars(all.cents));
  expect(metrics.totalCommission).toBe(dollars(all.commission));
}

/** Checks that all payments to a merchant are on their UTC day, even a test merchant's. */
async function compareDays(): Promise<void> {
  for (const { id } of merchants) {
    const { rows } = await sql<PaidDay>`
      select (paid_at at time zone 'UTC')::date::text as day, count(*) as payments,
             sum(amount)::bigint as cents
      from payments where merchant_id = ${id} and status = 'successful' group by 1 order by 1`.execute(
      service.db,
    );
    expect(await sumPaidByDay(service.db, id, '2000-01-01')).toEqual(rows);
    const since = rows[1]?.day ?? '2000-01-01';
    expect(await sumPaidByDay(service.db, id, since)).toEqual(
      rows.filter(({ day }) => day >= since),
    );
  }
}

async function compareMerchants(partnerId: string): Promise<void> {
  const now = new Date(service.clock.now);
  const { data, total } = await listMerchantReports(service.db, partnerId, {}, now);
  expect(total).toBe(merchants.length);
  const { metrics } = await readOverview(service.db, partnerId, now);
  const cents = data.reduce((sum, row) => sum + Math.round(row.totalVolume * 100), 0);
  expect(metrics.totalVolume).toBe(dollars(cents));
  for (const row of data) {
    const own = sql`merchant_id = ${row.id} and ${isLive()}`;
    const all = await plain(own);
    const paid = await plain(sql`${own} and status = 'successful'`);
    const recent = await plain(sql`${own} and ${recently()}`);
    expect(row).toMatchObject({
      totalPayments: all.payments,
      totalVolume: dollars(paid.cents),
      volume30d: dollars(recent.cents),
    });
    const { report } = await readMerchantReport(service.db, partnerId, row.id, now);
    expect(report.aggregates).toEqual({
      totalPayments: all.payments,
      successfulPayments: paid.payments,
      totalVolume: dollars(paid.cents),
      volume30d: dollars(recent.cents),
      totalCommission: dollars(paid.commission),
    });
  }
}
