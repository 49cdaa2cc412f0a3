import { afterAll, beforeAll, expect, test } from 'vitest';
import { setMerchant } from '#accounts/merchants.ts';
import { readOverview } from '#reports/partners/overview.ts';
import type { OnboardingStatus } from '#storage/database/account-tables.ts';
import { addMerchant, addPartner, operatorOf } from '../../helpers/accounts.ts';
import { startTestApp, type TestApp } from '../../helpers/app.ts';

let service: TestApp;
let partnerId: string;

beforeAll(async () => {
  service = await startTestApp();
  partnerId = (await addPartner(service)).partner.id;
});
afterAll(() => service.close());

/** When merchants' onboarding became pending, as the partner reads it. */
async function pendingSince(merchantId: string): Promise<string[]> {
  const { attention } = await readOverview(service.db, partnerId, new Date(service.clock()));
  return attention.filter(entry => entry.merchantId === merchantId).map(entry => entry.since);
}

/** Sets the status a minute later; returns the time. */
async function setLater(merchantId: string, onboarding: OnboardingStatus): Promise<string> {
  service.clock.now += 60_000;
  await setMerchant(operatorOf(service), merchantId, { onboarding });
  return new Date(service.clock()).toISOString();
}

test('a US merchant is pending since its creation, whichever other setting changes', async () => {
  const { merchant } = await addMerchant(service, { partnerId, kind: 'us', approved: false });
  service.clock.now += 60_000;
  await setMerchant(operatorOf(service), merchant.id, { status: 'inactive' });
  await setLater(merchant.id, 'pending');
  expect(await pendingSince(merchant.id)).toEqual([merchant.created_at.toISOString()]);
});

test('a merchant that becomes pending again is pending since then', async () => {
  const { merchant } = await addMerchant(service, { partnerId });
  expect(await pendingSince(merchant.id)).toEqual([]);
  const first = await setLater(merchant.id, 'pending');
  expect(await pendingSince(merchant.id)).toEqual([first]);
  await setLater(merchant.id, 'pending');
  expect(await pendingSince(merchant.id)).toEqual([first]);
  await setLater(merchant.id, 'rejected');
  expect(await pendingSince(merchant.id)).toEqual([]);
  const second = await setLater(merchant.id, 'pending');
  expect(await pendingSince(merchant.id)).toEqual([second]);
});
