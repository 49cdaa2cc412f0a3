import { sql } from 'kysely';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { addMerchant, type MerchantWithKey } from '../helpers/accounts.ts';
import { startTestApp, type TestApp } from '../helpers/app.ts';
import { countWritten, requestPrompt } from '../helpers/prompts.ts';

let service: TestApp;
let shop: MerchantWithKey;
let broken: MerchantWithKey;

beforeAll(async () => {
  service = await startTestApp();
  shop = await addMerchant(service);
  broken = await addMerchant(service);
  await sql`
    create function count_statements() returns trigger language plpgsql as $$
    begin
      perform nextval('creation_statements');
      return null;
    end $$`.execute(service.db);
  await sql`create sequence creation_statements`.execute(service.db);
  await sql`
    create trigger count_statements after insert on payments
    for each statement execute function count_statements()`.execute(service.db);
  await sql`
    create function break_merchant() returns trigger language plpgsql as $$
    begin raise exception 'broken on purpose'; end $$`.execute(service.db);
  await sql`
    create trigger break_merchant before insert on payments for each row
    when (new.merchant_id = ${sql.lit(broken.merchant.id)})
    execute function break_merchant()`.execute(service.db);
});
afterAll(() => service.close());

async function statements(): Promise<number> {
  const { rows } = await sql<{ count: number }>`
    select case when is_called then last_value else 0 end as count
    from creation_statements`.execute(service.db);
  return rows[0]?.count ?? 0;
}

/** References have characters of one to four bytes: the events of a batch are written by where their bytes begin. */
const create = (key: string, by = shop, amount = 5000) => {
  const reference = `${key} ${'aé€😀'.repeat(amount % 4)}`;
  const body = { amount, note: key, customerReferenceId: reference };
  return requestPrompt(service, by, body, { 'idempotency-key': key });
};

/** How many payments have an event with their own data. */
async function countTold(): Promise<number> {
  const { rows } = await sql<{ count: number }>`
    select count(*)::integer as count from payments join events on payment_id = payments.id
    where data ->> 'id' = payments.id::text and data ->> 'amount' = amount::text
      and data ->> 'customerReferenceId' = customer_reference_id`.execute(service.db);
  return rows[0]?.count ?? 0;
}

test('concurrent requests share statements, and each gets its own payment', async () => {
  const [before, counted] = [await countWritten(service.db), await statements()];
  const toldBefore = await countTold();
  const keys = Array.from({ length: 60 }, (_, index) => `together ${index}`);
  const responses = await Promise.all(keys.map((key, index) => create(key, shop, 100 + index)));
  expect(responses.map(({ statusCode }) => statusCode)).toEqual(keys.map(() => 201));
  expect(responses.map(response => response.json().prompt.amount)).toEqual(
    keys.map((_, index) => 100 + index),
  );
  // How many share a statement depends on how far apart a busy machine handles them.
  expect((await statements()) - counted).toBeLessThan(keys.length);
  expect(await countWritten(service.db)).toEqual({
    payments: before.payments + 60,
    events: before.events + 60,
    responses: before.responses + 60,
  });
  expect((await countTold()) - toldBefore).toBe(60);
  const replays = await Promise.all(keys.map((key, index) => create(key, shop, 100 + index)));
  expect(replays.map(({ body }) => body)).toEqual(responses.map(({ body }) => body));
});

test('one that fails is recorded as failed, and the others of its batch are created', async () => {
  const before = await countWritten(service.db);
  const requests = Array.from({ length: 20 }, (_, index) => create(`beside ${index}`));
  const failures = [create('fails', broken), create('fails too', broken)];
  for (const response of await Promise.all(requests)) expect(response.statusCode).toBe(201);
  for (const response of await Promise.all(failures)) expect(response.statusCode).toBe(500);
  expect((await create('fails', broken)).headers['idempotent-replayed']).toBe('true');
  expect(await countWritten(service.db)).toEqual({
    payments: before.payments + 20,
    events: before.events + 20,
    responses: before.responses + 22,
  });
});

test('of many concurrent requests with one key, one creates a payment', async () => {
  const before = await countWritten(service.db);
  const responses = await Promise.all(
    Array.from({ length: 100 }, (_, index) => create(`same ${index % 5}`)),
  );
  const created = responses.filter(({ statusCode }) => statusCode === 201);
  const others = responses.filter(({ statusCode }) => statusCode !== 201);
  const ids = new Set(created.map(response => response.json().prompt.id));
  expect(ids.size).toBe(5);
  expect(new Set(others.map(response => response.json().error.errorCode))).toEqual(
    new Set(others.length > 0 ? ['E4003'] : []),
  );
  expect((await countWritten(service.db)).payments).toBe(before.payments + 5);
});

test.each(['standard', 'us'] as const)(
  'retries of what a %s merchant got are replays, however many come at once',
  async kind => {
    const merchant = await addMerchant(service, { kind });
    const original = await create(`retried ${kind}`, merchant);
    expect(original.statusCode).toBe(201);
    const retry = (amount: number) =>
      Promise.all(Array.from({ length: 30 }, () => create(`retried ${kind}`, merchant, amount)));
    for (const response of await retry(5000)) {
      expect(response.body).toBe(original.body);
      expect(response.headers['idempotent-replayed']).toBe('true');
    }
    const codes = (await retry(6000)).map(response => response.json().error.errorCode);
    expect(new Set(codes)).toEqual(new Set(['E4002']));
  },
);
