import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { sql } from 'kysely';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { ApiError } from '#errors/api-error.ts';
import { claimAndExecute, sha256 } from '#payments/idempotency.ts';
import { ErrorEnvelopeSchema } from '#schemas/error.ts';
import { connect, type Database } from '#storage/database/connection.ts';
import { readRefusals } from '#storage/database/refusals.ts';
import { tryLockIdempotencyKey } from '#storage/repositories/payments/idempotency-keys.ts';
import { HEADERS } from '#surfaces/docs/openapi/headers.ts';
import { addMerchant, type MerchantWithKey } from '../helpers/accounts.ts';
import { startTestApp, type TestApp } from '../helpers/app.ts';
import { COMPILE_CACHE } from '../helpers/compile-cache.ts';
import { type CuttingProxy, startCuttingProxy } from '../helpers/cutting-proxy.ts';
import { PROMPT_PATH } from '../helpers/prompt-path.ts';
import { countWritten, expectRefusal, requestPrompt } from '../helpers/prompts.ts';

const BODY = '{"amount":5000}';
/** Less than the 15 seconds after which the server ends an idle transaction, and so frees its locks by itself. */
const AT_ONCE = { timeout: 10_000, interval: 50 };

let service: TestApp;
let shop: MerchantWithKey;

beforeAll(async () => {
  service = await startTestApp();
  shop = await addMerchant(service);
});
afterAll(() => service.close());

const create = (key: string, body = BODY) =>
  requestPrompt(service, shop, body, { 'idempotency-key': key });

describe('a failure while executing', () => {
  /** Makes the database reject every event until `check` is done. */
  async function withBrokenEvents(check: () => Promise<void>, sqlState = 'P0001') {
    await sql`
      create function break_events() returns trigger language plpgsql as $$
      begin
        raise exception 'broken on purpose' using errcode = ${sql.lit(sqlState)};
      end $$`.execute(service.db);
    await sql`
      create trigger break_events before insert on events
      for each row execute function break_events()`.execute(service.db);
    try {
      await check();
    } finally {
      await sql`drop function break_events cascade`.execute(service.db);
    }
  }

  test('is stored: the same key replays it although the cause is gone, a new key works', async () => {
    const before = await countWritten(service.db);
    let original: Awaited<ReturnType<typeof create>> | undefined;
    await withBrokenEvents(async () => {
      original = await create('failing');
      expectRefusal(original, 'E5001');
      expect(original.json().error.userSafeMessage).toBe(true);
      expect(original.body).not.toContain('broken on purpose');
    });
    expect(await countWritten(service.db)).toEqual({ ...before, responses: before.responses + 1 });

    const replays = [await create('failing'), await create('failing')];
    for (const replay of replays) {
      expect(replay.statusCode).toBe(500);
      expect(replay.json().error.errorCode).toBe('E5001');
      expect(replay.headers['idempotent-replayed']).toBe('true');
      expect(replay.headers['x-mp-should-retry']).toBe('false');
      expect(replay.body).toBe(original?.body);
      // As documented, the body has the ID of the failed request, and the header that of this one.
      expect(replay.json().error.requestId).toBe(original?.headers['x-request-id']);
      expect(replay.headers['x-request-id']).not.toBe(original?.headers['x-request-id']);
    }
    const { requestId } = ErrorEnvelopeSchema.properties.error.properties;
    const documented = [requestId.description, HEADERS['X-Request-Id'].description];
    for (const text of documented) expect(text).toMatch(/replayed.* request that failed/);
    expectRefusal(await create('failing', '{"amount":7000}'), 'E4002');
    expect((await create('works')).statusCode).toBe(201);
  });

  test('leaves nothing without a key', async () => {
    const before = await countWritten(service.db);
    await withBrokenEvents(async () => {
      expectRefusal(await requestPrompt(service, shop, BODY), 'E5001');
    });
    expect(await countWritten(service.db)).toEqual(before);
  });

  test.each([
    ['a statement timeout', '57014'],
    ['a full disk', '53100'],
  ])('is E5002 when %s ended it, and frees the key', async (_name, state) => {
    const before = await countWritten(service.db);
    const bare = () => requestPrompt(service, shop, BODY);
    const refusals = readRefusals()['disk-full'];
    await withBrokenEvents(async () => {
      expectRefusal(await create(state), 'E5002');
      expectRefusal(await bare(), 'E5002');
    }, state);
    expect(await countWritten(service.db)).toEqual(before);
    expect(readRefusals()['disk-full'] > refusals).toBe(state === '53100');
    const created = await create(state);
    expect(created.statusCode).toBe(201);
    expect(created.headers['idempotent-replayed']).toBeUndefined();
  });

  test.each(['40P01', '55P03'])(
    'by others’ locks (%s) is retried, and in the end frees the key',
    async state => {
      const before = await countWritten(service.db);
      await withBrokenEvents(async () => expectRefusal(await create(state), 'E5002'), state);
      expect(await countWritten(service.db)).toEqual(before);
      // A sequence is not rolled back.
      await sql`create sequence tries`.execute(service.db);
      await sql`
        create function break_twice() returns trigger language plpgsql as $$
        begin
          if nextval('tries') <= 2 then
            raise exception 'broken twice' using errcode = ${sql.lit(state)};
          end if;
          return new;
        end $$`.execute(service.db);
      await sql`
        create trigger break_twice before insert on events
        for each row execute function break_twice()`.execute(service.db);
      try {
        const created = await create(state);
        expect(created.statusCode).toBe(201);
        expect(created.headers['idempotent-replayed']).toBeUndefined();
      } finally {
        await sql`drop function break_twice cascade`.execute(service.db);
        await sql`drop sequence tries`.execute(service.db);
      }
      expect((await create(state)).headers['idempotent-replayed']).toBe('true');
    },
  );

  test('is logged in full, once', async () => {
    service.logs.length = 0;
    await withBrokenEvents(async () => void (await create('logged')));
    const failures = service.logs.filter(({ msg }) => msg === 'request failed');
    expect(failures).toHaveLength(1);
    expect(failures[0]).toMatchObject({
      errorCode: 'E5001',
      err: { message: expect.stringContaining('broken on purpose') },
    });
  });
});

test('work that refuses with E5002 frees the key', async () => {
  const scope = { accountId: shop.merchant.id, route: `POST ${PROMPT_PATH}`, key: 'refused' };
  const request = { scope, bodySha256: sha256(Buffer.from(BODY)), now: new Date() };
  const before = await countWritten(service.db);
  const refuse = async () => {
    throw new ApiError('E5002');
  };
  const onFailure = () => ({ status: 500, body: Buffer.from('{}') });
  const execution = claimAndExecute(service.db, service.keyring, request, refuse, onFailure);
  await expect(execution).rejects.toThrow(ApiError);
  expect(await countWritten(service.db)).toEqual(before);
  expect((await create('refused')).statusCode).toBe(201);
});

test('work that others’ locks ended is run again, and its failure is not stored', async () => {
  const scope = { accountId: shop.merchant.id, route: `POST ${PROMPT_PATH}`, key: 'locked' };
  const request = { scope, bodySha256: sha256(Buffer.from(BODY)), now: new Date() };
  const response = { status: 201, body: Buffer.from('{}') };
  let times = 0;
  const execute = (endings: number) =>
    claimAndExecute(
      ...([service.db, service.keyring, request] as const),
      async tx => {
        times += 1;
        if (times > endings) return response;
        await sql`do $$ begin raise 'a deadlock' using errcode = '40P01'; end $$`.execute(tx);
        throw new Error('unreachable');
      },
      () => ({ status: 500, body: Buffer.from('{}') }),
    );
  await expect(execute(9)).rejects.toThrow('a deadlock');
  times = 0;
  expect(await execute(2)).toEqual({ ...response, replayed: false });
  expect(times).toBe(3);
});

test('a killed replica leaves neither payment nor claim, and the key is free at once', async () => {
  const scope = { accountId: shop.merchant.id, route: `POST ${PROMPT_PATH}`, key: 'killed' };
  const isFree = () => service.db.transaction().execute(tx => tryLockIdempotencyKey(tx, scope));
  const before = await countWritten(service.db);

  // By the time it writes its event, the creation has claimed its key and written its payment.
  await sql`
    create function await_blocker() returns trigger language plpgsql as $$
    begin perform pg_advisory_xact_lock(4711); return new; end $$`.execute(service.db);
  await sql`
    create trigger await_blocker before insert on events
    for each row execute function await_blocker()`.execute(service.db);
  await service.db.transaction().execute(async blocker => {
    await sql`select pg_advisory_xact_lock(4711)`.execute(blocker);
    const script = join(import.meta.dirname, 'doomed-create.ts');
    const replica = spawn(
      process.execPath,
      [script, service.databaseUrl, shop.merchant.id, scope.key],
      { env: { ...process.env, ...COMPILE_CACHE }, stdio: ['ignore', 'ignore', 'inherit'] },
    );
    const exited = once(replica, 'exit');
    const isBlocked = async () => {
      const { rows } = await sql`
        select 1 from pg_stat_activity
        where datname = current_database() and application_name = 'doomed'
          and wait_event_type = 'Lock'`.execute(service.db);
      return rows.length === 1;
    };
    await expect.poll(isBlocked, AT_ONCE).toBe(true);
    expect(await isFree()).toBe(false);
    replica.kill('SIGKILL');
    await exited;
    await expect.poll(isFree, AT_ONCE).toBe(true);
  });
  await sql`drop function await_blocker cascade`.execute(service.db);

  expect(await countWritten(service.db)).toEqual(before);
  const response = await create('killed');
  expect(response.statusCode).toBe(201);
  expect(response.headers['idempotent-replayed']).toBeUndefined();
});

describe('a connection lost at the commit', () => {
  let proxy: CuttingProxy;
  let db: Database;
  let cut: TestApp;
  let merchant: MerchantWithKey;

  beforeAll(async () => {
    proxy = await startCuttingProxy(service.databaseUrl);
    db = connect({
      url: proxy.url,
      poolSize: 5,
      applicationName: 'cut',
      onIdleError: () => undefined,
    });
    cut = await startTestApp({ database: { db, url: service.databaseUrl } });
    merchant = await addMerchant(cut);
  });
  afterAll(async () => {
    await cut.close();
    await db.destroy();
    await proxy.close();
  });

  const request = (key?: string) =>
    requestPrompt(cut, merchant, BODY, key === undefined ? {} : { 'idempotency-key': key });

  test.each(['before', 'after'] as const)(
    'does not promise that nothing happened: cut %s it took effect',
    async when => {
      const before = await countWritten(service.db);
      proxy.cutAtCommit(when);
      const lost = await request(when);
      // Not E5002, which would mean that nothing was executed.
      expectRefusal(lost, 'E5001');

      // The server may need a moment to notice that its client is gone.
      await expect.poll(async () => (await request(when)).statusCode, AT_ONCE).toBe(201);
      const replay = await request(when);
      expect(replay.headers['idempotent-replayed']).toBe('true');
      expect(await countWritten(service.db)).toEqual({
        payments: before.payments + 1,
        events: before.events + 1,
        responses: before.responses + 1,
      });
    },
  );

  test('makes no such promise without a key either', async () => {
    proxy.cutAtCommit('after');
    expectRefusal(await request(), 'E5001');
  });
});
