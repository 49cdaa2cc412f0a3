import { randomBytes } from 'node:crypto';
import { sql } from 'kysely';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createKeyring } from '#crypto/keyring.ts';
import { addMerchant, type MerchantWithKey } from '../helpers/accounts.ts';
import { startTestApp, type TestApp } from '../helpers/app.ts';
import { expectRefusal, requestPrompt } from '../helpers/prompts.ts';

const BODY = { amount: 5000 };

let service: TestApp;
let shop: MerchantWithKey;
beforeAll(async () => {
  service = await startTestApp();
  shop = await addMerchant(service);
});
afterAll(() => service.close());

const create = (key: string, by = service) =>
  requestPrompt(by, shop, BODY, { 'idempotency-key': key });
const rowOf = (key: string) =>
  service.db.selectFrom('idempotency_keys').selectAll().where('key', '=', key).executeTakeFirst();
const setRow = (key: string, columns: Record<string, unknown>) =>
  service.db.updateTable('idempotency_keys').set(columns).where('key', '=', key).execute();

/** Tables with a row that contains the text, plain or in bytes. */
async function tablesWith(text: string): Promise<string[]> {
  const tables = await sql<{ name: string }>`
    select quote_ident(schemaname) || '.' || quote_ident(tablename) as name from pg_tables
    where schemaname not in ('pg_catalog', 'information_schema')`.execute(service.db);
  const found: string[] = [];
  for (const { name } of tables.rows) {
    const { rows } = await sql`
      select from ${sql.raw(name)} as t
      where strpos(t::text, ${text}) > 0
         or strpos(t::text, ${Buffer.from(text).toString('hex')}) > 0`.execute(service.db);
    if (rows.length > 0) found.push(name);
  }
  return found;
}

test('nothing in the database gives access to the checkout of a payment', async () => {
  const response = await create('token');
  const { prompt, checkoutUrl } = response.json();
  expect(await tablesWith(checkoutUrl.split('/').at(-1))).toEqual([]);
  // The search does find what is there.
  expect(await tablesWith(prompt.id)).toContain('public.payments');
  expect(await tablesWith('token')).toContain('public.idempotency_keys');
});

test('a sealed response is replayed byte for byte, also under a former master key', async () => {
  const [first, second] = [randomBytes(32), randomBytes(32)];
  const before = { ...service, keyring: createKeyring([first]) };
  const after = { ...service, keyring: createKeyring([second, first]) };
  shop = await addMerchant(before);
  const [old, current] = [
    await startTestApp({ beside: before }),
    await startTestApp({ beside: after }),
  ];
  try {
    const original = await create('rotated', old);
    const replay = await create('rotated', current);
    expect(replay.rawPayload).toEqual(original.rawPayload);
    expect(replay).toMatchObject({
      statusCode: 201,
      headers: { 'idempotent-replayed': 'true' },
    });
  } finally {
    await Promise.all([old.close(), current.close()]);
    shop = await addMerchant(service);
  }
});

test('a response that the previous release has stored in clear is replayed as it is', async () => {
  await create('clear');
  const body = Buffer.from('{"stored":"before"}');
  await setRow('clear', { status: 201, body, master_key_version: null });
  const replay = await create('clear');
  expect(replay.rawPayload).toEqual(body);
  expect(replay).toMatchObject({ statusCode: 201, headers: { 'idempotent-replayed': 'true' } });
});

test('a response opens only under its own key, and unaltered', async () => {
  await create('one');
  await create('other');
  const one = await rowOf('one');
  await setRow('other', { body: one?.body });
  expectRefusal(await create('other'), 'E5001');
  await setRow('other', { body: Buffer.alloc(100) });
  expectRefusal(await create('other'), 'E5001');
  expect((await create('one')).statusCode).toBe(201);
});

test('a row either has a status or is sealed', async () => {
  await create('either');
  await expect(setRow('either', { status: 201 })).rejects.toThrow('idempotency_keys_sealed');
});
