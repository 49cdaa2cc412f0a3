import { type Kysely, sql } from 'kysely';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { up } from '../../migrations/0021_commissions_and_onboarding.ts';
import { setMerchant } from '../../src/accounts/merchants.ts';
import { verifyPartner } from '../../src/partners/verify-rollups.ts';
import { sumCommissions } from '../../src/repositories/partners/figures.ts';
import { addMerchant, addPartner, operatorOf } from '../helpers/accounts.ts';
import { startTestApp, type TestApp } from '../helpers/app.ts';
import { addPayment } from '../helpers/payments.ts';

let service: TestApp;
beforeAll(async () => {
  service = await startTestApp();
});
afterAll(() => service.close());

/** Takes the step back, so that it can be made on a database with a history. */
async function takeBack(): Promise<void> {
  for (const step of [
    sql`drop function record_commission_delta cascade`,
    sql`drop table partner_commission_deltas, partner_commissions`,
    sql`alter table merchants drop column onboarding_changed_at`,
  ]) {
    await step.execute(service.db);
  }
}

const makeAgain = () => up(service.db as unknown as Kysely<unknown>);

test('sums the commissions of earlier payments, and later ones once', async () => {
  const { partner } = await addPartner(service);
  const { merchant } = await addMerchant(service, { partnerId: partner.id });
  const now = new Date(service.clock());
  const add = (columns: object) =>
    addPayment(service.db, merchant, { created_at: now, commission_amount: 100, ...columns });
  const paid = { status: 'successful', session_status: 'completed', paid_at: now } as const;
  await takeBack();
  await add(paid);
  await add({ ...paid, commission_amount: null });
  const open = await add({});
  await add({ status: 'cancelled', session_status: 'cancelled' });
  await makeAgain();
  expect(await sumCommissions(service.db, partner.id)).toBe(100);
  await service.db.updateTable('payments').set(paid).where('id', '=', open.id).execute();
  await add({ ...paid, commission_amount: 7 });
  expect(await sumCommissions(service.db, partner.id)).toBe(207);
  expect(await sumCommissions(service.db, partner.id, merchant.id)).toBe(207);
  expect(await verifyPartner(service.db, partner.id)).toEqual([]);
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
  await takeBack();
  await makeAgain();
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
