import { sql } from 'kysely';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { expirePayments } from '#onchain/settlement/expire-on-chain.ts';
import type { Merchant } from '#storage/database/account-tables.ts';
import { findPayment } from '#storage/repositories/payments/payments.ts';
import { addMerchant } from '../../helpers/accounts.ts';
import { startTestApp, type TestApp } from '../../helpers/app.ts';
import { addPayment } from '../../helpers/payments.ts';

let service: TestApp;
let merchant: Merchant;

beforeAll(async () => {
  service = await startTestApp();
  ({ merchant } = await addMerchant(service));
});
afterAll(() => service.close());

const now = () => new Date(service.clock.now);
const add = (expiresInMs: number) =>
  addPayment(service.db, merchant, {
    created_at: now(),
    expires_at: new Date(service.clock.now + expiresInMs),
  });
const statusOf = async (id: string) => (await findPayment(service.db, id))?.status;

test('several workers expire exactly the payments that are due, to the millisecond, and each once', async () => {
  const due = await Promise.all(Array.from({ length: 60 }, () => add(0)));
  const waiting = await add(1);
  const ended = await Promise.all([1, 2, 3, 4].map(() => expirePayments(service.db, now(), 50)));
  expect(ended.reduce((sum, count) => sum + count, 0)).toBe(60);
  for (const { id } of due) expect(await statusOf(id)).toBe('expired');
  expect(await statusOf(waiting.id)).toBe('pending');
  const { rows } = await sql<{ events: number }>`
    select count(*) as events from events where type = 'payment_prompt.expired'`.execute(
    service.db,
  );
  expect(rows[0]?.events).toBe(60);
});

test('an error that does not recur is reported', async () => {
  const { id } = await add(0);
  await sql`create sequence attempts`.execute(service.db);
  await sql`
    create function fail_once() returns trigger language plpgsql as $$
    begin
      if nextval('attempts') = 1 then raise exception 'once'; end if;
      return new;
    end $$`.execute(service.db);
  await sql`
    create trigger once before insert on payment_transitions
    for each row execute function fail_once()`.execute(service.db);
  const warnings: unknown[][] = [];
  const log = { warn: (...line: unknown[]) => void warnings.push(line) };
  expect(await expirePayments(service.db, now(), 50, log)).toBe(1);
  expect(await statusOf(id)).toBe('expired');
  expect(warnings).toEqual([
    [
      { err: expect.objectContaining({ message: 'once' }) },
      'payments were expired one by one, since together it failed',
    ],
  ]);
  await expirePayments(service.db, now(), 50, log);
  expect(warnings).toHaveLength(1);
});

test('one payment that cannot be ended does not hold up the others', async () => {
  const stuck = await add(-10);
  const others = await Promise.all([add(-5), add(-4)]);
  await sql`
    create function refuse_stuck() returns trigger language plpgsql as $$
    begin
      if new.payment_id = ${sql.lit(stuck.id)} then raise exception 'stuck'; end if;
      return new;
    end $$`.execute(service.db);
  await sql`
    create trigger stuck before insert on payment_transitions
    for each row execute function refuse_stuck()`.execute(service.db);
  await expect(expirePayments(service.db, now(), 50)).rejects.toThrow(
    '1 payments could not be expired',
  );
  for (const { id } of others) expect(await statusOf(id)).toBe('expired');
  expect(await statusOf(stuck.id)).toBe('pending');
});
