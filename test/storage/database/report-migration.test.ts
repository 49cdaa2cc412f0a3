import { sql } from 'kysely';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { setMerchant } from '#accounts/merchants.ts';
import { verifyPartner } from '#reports/partners/verify-rollups.ts';
import { sumCommissions } from '#storage/repositories/partners/figures.ts';
import { sumMonth } from '#storage/repositories/partners/months.ts';
import { sumPaidByDay } from '#storage/repositories/payments/paid-figures.ts';
import { up } from '../../../migrations/0021_commissions_and_onboarding.ts';
import { up as addMonths } from '../../../migrations/0053_commission_months.ts';
import { up as addPaidDays } from '../../../migrations/0060_merchant_paid_days.ts';
import { addMerchant, addPartner, operatorOf } from '../../helpers/accounts.ts';
import { startTestApp, type TestApp } from '../../helpers/app.ts';
import { addPayment } from '../../helpers/payments.ts';
import { makeAgain } from './make-again.ts';

let service: TestApp;
beforeAll(async () => {
  service = await startTestApp();
});
afterAll(() => service.close());

const UNDO = [
  sql`drop function record_commission_delta cascade`,
  sql`drop table partner_commission_deltas, partner_commissions`,
  sql`alter table merchants drop column onboarding_changed_at`,
];
const UNDO_MONTHS = [
  sql`drop function record_commission_month cascade`,
  sql`drop table partner_commission_month_deltas, partner_commission_months`,
];
const UNDO_PAID_DAYS = [
  sql`drop function record_paid_day cascade`,
  sql`drop table merchant_paid_deltas, merchant_paid_days`,
];
const PAID = { status: 'successful', session_status: 'completed' } as const;

test('sums the commissions of earlier payments, and later ones once', async () => {
  const { partner } = await addPartner(service);
  const { merchant } = await addMerchant(service, { partnerId: partner.id });
  const now = new Date(service.clock());
  const add = (columns: object) =>
    addPayment(service.db, merchant, { created_at: now, commission_amount: 100, ...columns });
  const paid = { ...PAID, paid_at: now };
  const open = await add({});
  await makeAgain(service.db, up, UNDO, async () => {
    await add(paid);
    await add({ ...paid, commission_amount: null });
    await add({ status: 'cancelled', session_status: 'cancelled' });
  });
  expect(await sumCommissions(service.db, partner.id)).toBe(100);
  await service.db.updateTable('payments').set(paid).where('id', '=', open.id).execute();
  await add({ ...paid, commission_amount: 7 });
  expect(await sumCommissions(service.db, partner.id)).toBe(207);
  expect(await sumCommissions(service.db, partner.id, merchant.id)).toBe(207);
  expect(await verifyPartner(service.db, partner.id)).toEqual([]);
});

test('sums the commissions of earlier payments by the UTC month of payment, and later ones once', async () => {
  const { partner } = await addPartner(service);
  const { merchant } = await addMerchant(service, { partnerId: partner.id });
  const { merchant: other } = await addMerchant(service, { partnerId: partner.id });
  const { merchant: alone } = await addMerchant(service);
  const created_at = new Date('2026-03-01T00:00:00Z');
  const add = (paidAt: string, cents: number | null, to = merchant) =>
    addPayment(service.db, to, {
      ...PAID,
      created_at,
      paid_at: new Date(paidAt),
      commission_amount: cents,
    });
  const open = await addPayment(service.db, merchant, { created_at, commission_amount: 50 });
  await makeAgain(service.db, addMonths, UNDO_MONTHS, async () => {
    await add('2026-03-31T23:59:59.999Z', 1);
    await add('2026-04-01T00:00:00.000Z', 20);
    await add('2026-04-30T12:00:00.000Z', 300);
    await add('2026-04-30T12:00:00.000Z', 4_000, other);
    await add('2026-04-30T12:00:00.000Z', 0);
    await add('2026-04-30T12:00:00.000Z', null);
    await add('2026-04-30T12:00:00.000Z', 9, alone);
  });
  const months = async () => {
    const days = [
      { first: '2026-03-01', end: '2026-04-01' },
      { first: '2026-04-01', end: '2026-05-01' },
    ];
    const sums = days.map(month => sumMonth(service.db, partner.id, month));
    return (await Promise.all(sums)).map(({ commissionCents }) => commissionCents);
  };
  expect(await months()).toEqual([1, 4_320]);
  const paid = { ...PAID, paid_at: new Date('2026-03-31T23:00:00Z') };
  await service.db.updateTable('payments').set(paid).where('id', '=', open.id).execute();
  await add('2026-04-02T00:00:00.000Z', 7);
  expect(await months()).toEqual([51, 4_327]);
  expect(await verifyPartner(service.db, partner.id)).toEqual([]);
});

test('sums earlier payments by the UTC day of payment, and later ones once', async () => {
  const { merchant } = await addMerchant(service);
  const created_at = new Date('2026-03-01T00:00:00Z');
  const paid = (at: string) => ({ ...PAID, paid_at: new Date(at) });
  const add = (amount: number, columns: object) =>
    addPayment(service.db, merchant, { created_at, amount, ...columns });
  const open = await add(50, {});
  await makeAgain(service.db, addPaidDays, UNDO_PAID_DAYS, async () => {
    await add(100, paid('2026-03-31T23:59:59.999Z'));
    await add(2_000, paid('2026-04-01T00:00:00.000Z'));
    await add(9, { status: 'cancelled', session_status: 'cancelled' });
  });
  const days = () => sumPaidByDay(service.db, merchant.id, '2026-03-31');
  expect(await days()).toEqual([
    { day: '2026-03-31', payments: 1, cents: 100 },
    { day: '2026-04-01', payments: 1, cents: 2_000 },
  ]);
  const change = (at: string) =>
    service.db.updateTable('payments').set(paid(at)).where('id', '=', open.id).execute();
  await change('2026-03-31T00:00:00Z');
  await add(7, paid('2026-04-01T00:00:01Z'));
  expect((await days()).map(({ cents }) => cents)).toEqual([150, 2_007]);
});

test('takes the time of a change of onboarding from the audit log', async () => {
  const set = async (id: string, onboarding: 'pending' | 'approved' | 'rejected') => {
    service.clock.now += 60_000;
    await setMerchant(operatorOf(service), id, { onboarding });
    return new Date(service.clock());
  };
  const { merchant: changed } = await addMerchant(service);
  await set(changed.id, 'pending');
  await set(changed.id, 'rejected');
  const last = await set(changed.id, 'pending');
  await set(changed.id, 'pending');
  const { merchant: untouched } = await addMerchant(service, { kind: 'us', approved: false });
  await set(untouched.id, 'pending');
  await makeAgain(service.db, up, UNDO);
  const rows = await service.db
    .selectFrom('merchants')
    .select(['id', 'onboarding_changed_at as at'])
    .where('id', 'in', [changed.id, untouched.id])
    .orderBy('id')
    .execute();
  expect(rows).toEqual([
    { id: changed.id, at: last },
    { id: untouched.id, at: null },
  ]);
});
