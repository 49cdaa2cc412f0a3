import { sql } from 'kysely';
import { v7 as uuidv7 } from 'uuid';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { rotateKey } from '#accounts/keys/manage-keys.ts';
import { makeLink } from '#accounts/people/invitations.ts';
import { deleteExcessRequests } from '#storage/repositories/keys/excess-requests.ts';
import { insertNonces } from '#storage/repositories/keys/nonces.ts';
import {
  findStoredResponse,
  storeResponse,
} from '#storage/repositories/payments/idempotency-keys.ts';
import { insertEmailLink } from '#storage/repositories/people/email-links.ts';
import { countAttempt, insertDevice } from '#storage/repositories/people/sign-in-counters.ts';
import { cleanUpLoop } from '#worker/clean-up.ts';
import { addMerchant, operatorOf } from '../helpers/accounts.ts';
import { startTestApp, type TestApp } from '../helpers/app.ts';
import { addPerson } from '../helpers/panel.ts';

const DAY_MS = 24 * 60 * 60 * 1000;
/** Rows that one statement removes. */
const BATCH = 1_000;
const LIMITS = { failures: 10, windowMs: 60_000, inRow: 100 };

let service: TestApp;

beforeAll(async () => {
  service = await startTestApp();
});
afterAll(() => service.close());
beforeEach(async () => {
  await service.db.deleteFrom('nonces').execute();
  await service.db.deleteFrom('idempotency_keys').execute();
});

const at = (milliseconds: number) => new Date(service.clock.now + milliseconds);
const cleanUp = (signal = new AbortController().signal) =>
  cleanUpLoop(service.db, service.clock).run(signal, () => undefined);

async function addNonces(count: number, expiresAt: Date): Promise<void> {
  await sql`
    insert into nonces (key_id, nonce, expires_at)
    select 'mpk', ${expiresAt.getTime()} || '-' || number, ${expiresAt}
    from generate_series(1, ${count}) as number`.execute(service.db);
}

async function addResponse(key: string, expiresAt: Date): Promise<void> {
  const scope = { accountId: '01890000-0000-7000-8000-000000000000', route: 'POST /', key };
  const response = {
    bodySha256: Buffer.alloc(32),
    status: null,
    body: Buffer.from('sealed'),
    masterKeyVersion: service.keyring.currentVersion,
  };
  await storeResponse(service.db, scope, response, at(-DAY_MS), expiresAt);
}

async function remaining(table: 'nonces' | 'idempotency_keys'): Promise<number> {
  const { rows } = await sql<{ count: number }>`
    select count(*) as count from ${sql.table(table)}`.execute(service.db);
  return rows[0]?.count ?? Number.NaN;
}

test('removes exactly the nonces and responses that have expired', async () => {
  await addNonces(3, at(-1));
  await addNonces(2, at(1));
  await addResponse('old', at(-1));
  await addResponse('older', at(-DAY_MS));
  await addResponse('kept', at(1));
  await cleanUp();
  expect(await remaining('nonces')).toBe(2);
  const keys = await service.db.selectFrom('idempotency_keys').select('key').execute();
  expect(keys).toEqual([{ key: 'kept' }]);
});

test('never removes a response that is still replayed, or a nonce that is still refused', async () => {
  // At the very instant of expiry both are free; a moment earlier neither is.
  const scope = { accountId: '01890000-0000-7000-8000-000000000000', route: 'POST /', key: 'edge' };
  for (const [offset, lives] of [
    [-1, false],
    [0, false],
    [1, true],
  ] as const) {
    await addResponse('edge', at(offset));
    const nonce = { keyId: 'mpk', nonce: `edge ${offset}` };
    await insertNonces(service.db, [nonce], { expiresAt: at(offset), now: at(-2) });
    await cleanUp();
    expect((await findStoredResponse(service.db, scope, at(0))) !== undefined).toBe(lives);
    const again = await insertNonces(service.db, [nonce], { now: at(0), expiresAt: at(DAY_MS) });
    expect(again).toEqual(lives ? [] : [nonce]);
  }
});

test('removes any number, one batch at a time', async () => {
  for (const count of [0, 1, BATCH - 1, BATCH, BATCH + 1, 2 * BATCH + 500]) {
    await addNonces(count, at(-1));
    await addNonces(1, at(1));
    await cleanUp();
    expect(await remaining('nonces')).toBe(1);
    await service.db.deleteFrom('nonces').execute();
  }
});

test('rows that cannot be removed do not keep others from being removed', async () => {
  await addResponse('old', at(-1));
  await sql`alter table nonces rename to elsewhere`.execute(service.db);
  try {
    await expect(cleanUp()).rejects.toThrow('1 kinds of rows were not removed');
  } finally {
    await sql`alter table elsewhere rename to nonces`.execute(service.db);
  }
  expect(await remaining('idempotency_keys')).toBe(0);
});

test('stops between two batches when its signal is aborted', async () => {
  await addNonces(3 * BATCH, at(-1));
  const controller = new AbortController();
  // The clock is read once per statement.
  const clock = () => {
    controller.abort();
    return service.clock.now;
  };
  await cleanUpLoop(service.db, clock).run(controller.signal, () => undefined);
  expect(await remaining('nonces')).toBe(2 * BATCH);
});

test('skips rows that another worker is removing, without waiting for it', async () => {
  await addNonces(10, at(-1));
  await service.db.transaction().execute(async tx => {
    await sql`select 1 from nonces limit 4 for update`.execute(tx);
    await cleanUp();
    expect(await remaining('nonces')).toBe(4);
  });
  await Promise.all([cleanUp(), cleanUp(), cleanUp()]);
  expect(await remaining('nonces')).toBe(0);
});

test('wipes the previous secrets whose grace period is over, and only those', async () => {
  const [over, within] = [await addMerchant(service), await addMerchant(service)];
  const start = service.clock.now;
  const secretsOf = (id: string) =>
    service.db
      .selectFrom('api_keys')
      .select([
        'secret',
        'previous_secret',
        'previous_passphrase_hash',
        'previous_master_key_version',
        'previous_valid_until',
      ])
      .where('id', '=', id)
      .executeTakeFirstOrThrow();
  await rotateKey(operatorOf(service), service.keyring, over.keyId, false);
  service.clock.now += 1;
  await rotateKey(operatorOf(service), service.keyring, within.keyId, false);
  const [before, untouched] = [await secretsOf(over.keyId), await secretsOf(within.keyId)];
  expect(before.previous_secret).not.toBeNull();

  service.clock.now = start + DAY_MS;
  try {
    await cleanUp();
    expect(await secretsOf(over.keyId)).toEqual({
      secret: before.secret,
      previous_secret: null,
      previous_passphrase_hash: null,
      previous_master_key_version: null,
      previous_valid_until: null,
    });
    expect(await secretsOf(within.keyId)).toEqual(untouched);
  } finally {
    service.clock.now = start;
  }
});

test('removes what can no longer be used in the panel, and nothing else', async () => {
  const { db } = service;
  const [idle, active] = [await addPerson(service), await addPerson(service)];
  const waiting = await addPerson(service, { factorMinutesAgo: null });
  const link = { person_id: idle.personId, merchant_user_id: null, partner_member_id: null };
  await makeLink(db, 'both', link, 'test', at(-3 * DAY_MS));
  await makeLink(db, 'both', { ...link, person_id: active.personId }, 'test', at(0));
  for (const days of [3, 0]) {
    await insertEmailLink(db, {
      id: uuidv7(),
      token_hash: Buffer.from(days === 0 ? 'new' : 'old'),
      person_id: idle.personId,
      email: 'new@example.com',
      created_at: at(-days * DAY_MS),
      expires_at: at(-days * DAY_MS + 1),
      used_at: null,
    });
  }
  await countAttempt(db, Buffer.from('old'), LIMITS, at(-31 * DAY_MS));
  await countAttempt(db, Buffer.from('new'), LIMITS, at(-29 * DAY_MS));
  for (const [days, token] of [
    [181, 'old'],
    [179, 'new'],
  ] as const) {
    const device = { token_hash: Buffer.from(token), person_id: idle.personId };
    await insertDevice(db, { ...device, created_at: at(-days * DAY_MS) });
  }
  await db
    .updateTable('panel_sessions')
    .set({ last_seen_at: at(-61 * 60_000) })
    .where('person_id', '=', idle.personId)
    .execute();
  await db
    .updateTable('panel_sessions')
    .set({ created_at: at(-11 * 60_000) })
    .where('person_id', 'in', [active.personId, waiting.personId])
    .execute();
  await cleanUp();
  const { rows } = await sql`
    select (select json_agg(person_id) from panel_sessions) as sessions,
           (select json_agg(person_id) from panel_links) as links,
           (select json_agg(convert_from(token_hash, 'UTF8')) from email_links) as emails,
           (select json_agg(convert_from(key, 'UTF8')) from sign_in_counters) as counters,
           (select json_agg(convert_from(token_hash, 'UTF8')) from known_devices) as devices`.execute(
    db,
  );
  expect(rows[0]).toEqual({
    sessions: [active.personId],
    links: [active.personId],
    emails: ['new'],
    counters: ['new'],
    devices: ['new'],
  });
});

test('removes what was put aside 90 days ago', async () => {
  const { personId } = await addPerson(service);
  const add = (item: string, milliseconds: number) =>
    service.db
      .insertInto('attention_put_aside')
      .values({ person_id: personId, account_id: uuidv7(), item, at: at(milliseconds) })
      .execute();
  await add('old', -90 * DAY_MS - 1);
  await add('kept', -90 * DAY_MS + 1);
  await cleanUp();
  const rows = await service.db.selectFrom('attention_put_aside').select('item').execute();
  expect(rows).toEqual([{ item: 'kept' }]);
});

/** Adds requests of an account, a second apart, the newest at `until`. */
async function addRequests(accountId: string, count: number, until = service.clock.now) {
  await sql`
    insert into request_log
    select (lpad(to_hex(${until}::bigint - number * 1000), 12, '0') || '7000' || substr(md5(${accountId} || number), 17))::uuid,
           to_timestamp((${until}::bigint - number * 1000) / 1000.0), ${accountId}::uuid, 1, 1, 400, true, false,
           null, 'mpk_' || number % 3, 'E1001', null, 'GET', '/', ''
    from generate_series(0, ${count - 1}) as number`.execute(service.db);
}

async function requestsOf(accountId: string): Promise<number[]> {
  const rows = await service.db
    .selectFrom('request_log')
    .select('at')
    .where('account_id', '=', accountId)
    .orderBy('id', 'desc')
    .execute();
  return rows.map(({ at: arrived }) => (service.clock.now - arrived.getTime()) / 1000);
}

test('of an account with too many requests the oldest are removed, and no other account loses any', async () => {
  const [busy, quiet] = [uuidv7(), uuidv7()];
  await addRequests(busy, 60);
  await addRequests(quiet, 40, service.clock.now - DAY_MS);
  const removed: number[] = [];
  do removed.push(await deleteExcessRequests(service.db, 50, 7));
  while (removed.at(-1) === 7);
  expect(removed).toEqual([7, 3]);
  expect(await requestsOf(busy)).toEqual(Array.from({ length: 50 }, (_, index) => index));
  expect(await requestsOf(quiet)).toHaveLength(40);
});
