import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Merchant } from '../../src/database/account-tables.ts';
import { firstIdOf, insertEvent } from '../../src/repositories/payments/events.ts';
import { EventFollower } from '../../src/webhooks/follow-events.ts';
import { addMerchant } from '../helpers/accounts.ts';
import { startTestApp, type TestApp } from '../helpers/app.ts';

let service: TestApp;
let merchant: Merchant;
let sent = 0;
beforeAll(async () => {
  service = await startTestApp();
  ({ merchant } = await addMerchant(service));
});
afterAll(() => service.close());

/** Writes an event whose ID was made so many milliseconds ago. */
async function write(ageMs = 0, type = 'payment_prompt.created', of = merchant): Promise<string> {
  const createdAt = new Date(Date.now() - ageMs);
  sent += 1;
  const id = firstIdOf(createdAt.getTime()).slice(0, -12) + String(sent).padStart(12, '0');
  const none = { paymentId: null, traceparent: null, tracestate: null };
  await insertEvent(service.db, { id, merchantId: of.id, type, createdAt, data: '{}', ...none });
  return id;
}

function follow(since: number, types?: string[]) {
  const follower = new EventFollower({ merchantId: merchant.id, types, since });
  return async () => (await follower.next(service.db)).map(({ id }) => id);
}

test('reads each event once, also one that commits after a later one', async () => {
  const next = follow(Date.now());
  expect(await next()).toEqual([]);
  const late = firstIdOf(Date.now());
  // Later than anything that is written below, however long that takes.
  const first = await write(-30_000);
  expect(await next()).toEqual([first]);
  expect(await next()).toEqual([]);
  const second = await write();
  expect(second > late && second < first).toBe(true);
  expect(await next()).toEqual([second]);
  expect(await next()).toEqual([]);
});

test('reads neither what was before, nor other merchants, nor other types', async () => {
  const other = await addMerchant(service);
  await write(5_000, 'payment_prompt.expired');
  const next = follow(Date.now() - 2_000, ['payment_prompt.expired']);
  await write(0, 'payment_prompt.expired', other.merchant);
  await write(0, 'payment_prompt.created');
  const own = await write(0, 'payment_prompt.expired');
  expect(await next()).toEqual([own]);
  expect(await next()).toEqual([]);
});

test('catches up over many reads with what is long past, without a gap', async () => {
  const since = Date.now() - 600_000;
  const written: string[] = [];
  for (let index = 0; index < 230; index += 1) written.push(await write(599_000 - index));
  const next = follow(since, ['payment_prompt.created']);
  const read: string[] = [];
  for (let ids = await next(); ids.length > 0; ids = await next()) {
    expect(ids.length).toBeLessThanOrEqual(100);
    read.push(...ids);
  }
  expect(new Set(read).size).toBe(read.length);
  expect(read.slice(0, 230)).toEqual(written);
});
