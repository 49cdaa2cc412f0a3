import { randomBytes, randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { sql } from 'kysely';
import { afterAll, beforeAll, describe, expect, inject, test, vi } from 'vitest';
import { createClient, PaymentsApiError } from '#client/index.ts';
import { createKeyring } from '#crypto/keyring.ts';
import { openResponse } from '#payments/stored-response.ts';
import { findStoredResponse } from '#storage/repositories/payments/idempotency-keys.ts';
import { mp } from '../cli/mp.ts';
import { addKey, type MerchantWithKey } from '../helpers/accounts.ts';
import { cloneDatabase, type TestDatabase } from '../helpers/database.ts';
import { REDIS_MISSING } from '../helpers/redis-server.ts';
import { openAccounts } from './accounts.ts';
import { type Balancer, startBalancer } from './balancer.ts';
import {
  call,
  complaints,
  patiently,
  type Reply,
  type ServiceProcess,
  serviceEnvironment,
  sign,
  startReplica,
  startWorker,
} from './service-process.ts';

/** Two replicas of the API and a worker on one database, with Redis for nonces. */

const CREATE = '/external/v1/payments/prompt';
/** The message when a claim of a nonce took longer than a second. */
const CLAIM_FAILED = 'Replay protection is unavailable; nothing was executed.';
const redisUrl = inject('redisServer');

describe.skipIf(redisUrl === null)(redisUrl === null ? REDIS_MISSING : 'two replicas', () => {
  const masterKey = randomBytes(32);
  let database: TestDatabase;
  let env: Record<string, string>;
  let shop: MerchantWithKey;
  let revocable: Awaited<ReturnType<typeof addKey>>;
  let one: ServiceProcess;
  let two: ServiceProcess;
  let worker: ServiceProcess | undefined;
  let balancer: Balancer | undefined;
  const started: ServiceProcess[] = [];

  async function start(port?: number): Promise<ServiceProcess> {
    const replica = await startReplica(env, port);
    started.push(replica);
    return replica;
  }

  beforeAll(async () => {
    database = await cloneDatabase();
    env = serviceEnvironment(database.url, masterKey, { REDIS_URL: redisUrl ?? '' });
    const accounts = await openAccounts(database.db, masterKey);
    ({ shop } = accounts);
    revocable = await addKey(accounts.operated, { merchantId: shop.merchant.id });
    worker = startWorker(env);
    started.push(worker);
    [one, two] = await Promise.all([start(), start()]);
  });
  afterAll(async () => {
    await balancer?.close();
    await Promise.all(started.map(it => it.stop('SIGKILL')));
    await database.drop();
  });

  const payments = async (reference: string) =>
    database.db
      .selectFrom('payments')
      .select('id')
      .where('customer_reference_id', '=', reference)
      .execute();

  /** ID of the payment in the response that is stored under a key. */
  async function storedUnder(key: string): Promise<string | undefined> {
    const scope = { accountId: shop.merchant.id, route: `POST ${CREATE}`, key };
    const stored = await findStoredResponse(database.db, scope, new Date());
    if (stored === undefined) return undefined;
    const { body } = openResponse(createKeyring([masterKey]), scope, stored);
    return JSON.parse(body.toString()).prompt.id;
  }

  test('what one creates can be read from the other at once', async () => {
    for (const [maker, reader] of [
      [one, two],
      [two, one],
    ] as const) {
      const { body } = await patiently(maker, shop, { path: CREATE, body: { amount: 5000 } });
      const path = `/external/v1/payments/${body.prompt.id}`;
      expect(await call(reader, shop, { path })).toMatchObject({
        status: 200,
        body: { id: body.prompt.id },
      });
    }
  });

  test('concurrent creates with one key on both make one payment', async () => {
    const customerReferenceId = randomUUID();
    const request = {
      path: CREATE,
      body: { amount: 5000, customerReferenceId },
      idempotencyKey: randomUUID(),
    };
    const replies = await Promise.all(
      Array.from({ length: 20 }, (_, index) => patiently(index % 2 ? one : two, shop, request)),
    );
    const made = replies.filter(({ status }) => status === 201);
    expect(made.filter(({ replayed }) => !replayed)).toHaveLength(1);
    expect(new Set(made.map(({ body }) => body.prompt.id)).size).toBe(1);
    const others = replies.filter(({ status }) => status !== 201);
    expect(others.filter(({ body }) => body.error.errorCode !== 'E4003')).toEqual([]);
    expect(await payments(customerReferenceId)).toEqual([{ id: made[0]?.body.prompt.id }]);
  });

  test('a nonce used on one is refused by the other', async () => {
    const path = '/external/v1/payments';
    const { headers: signed } = sign(shop, path);
    expect((await call(one, shop, { path, signed })).status).toBe(200);
    expect(await call(two, shop, { path, signed })).toMatchObject({
      status: 401,
      body: { error: { errorCode: 'E2009' } },
    });
  });

  test('a key that is revoked is refused by both once the command has returned', async () => {
    const path = '/external/v1/payments';
    const ask = () => Promise.all([one, two].map(it => call(it, revocable, { path })));
    // The second time they need not query the database.
    for (const _ of [1, 2]) expect((await ask()).map(({ status }) => status)).toEqual([200, 200]);
    const { status, err } = await mp(['key', 'revoke', revocable.keyId], env);
    expect({ status, err }).toEqual({ status: 0, err: '' });
    const codes = (await ask()).map(({ body }) => body.error?.errorCode);
    expect(codes).toEqual(['E2005', 'E2005']);
  });

  test('a rolling restart behind a balancer loses no request', async () => {
    balancer = await startBalancer([one.port, two.port]);
    // Without retries, which would hide a request that got no response.
    const client = createClient({ baseUrl: balancer.url, ...shop, maxAttempts: 1 });
    const reference = `rolling-${randomUUID()}`;
    const created: string[] = [];
    let restarted = false;
    /** Creations whose claim of a nonce took too long. */
    let delayed = 0;
    const lanes = Array.from({ length: 4 }, async () => {
      while (!restarted) {
        const made = await client
          .createPayment({ amount: 5000, customerReferenceId: reference })
          .catch(error => {
            if (!(error instanceof PaymentsApiError && error.message === CLAIM_FAILED)) throw error;
            delayed += 1;
          });
        if (made === undefined) continue;
        const { prompt } = made;
        created.push((await client.getPayment(prompt.id)).id);
        // Some requests are in flight at any time; more would only delay the start of the new replica.
        await sleep(25);
      }
    });
    for (const lane of lanes) lane.catch(() => undefined);
    try {
      for (const old of [one, two]) {
        const before = created.length;
        expect(await old.stop()).toBe(0);
        const fresh = await start(old.port);
        if (old === one) one = fresh;
        else two = fresh;
        // As an operator does before restarting the next one.
        await vi.waitUntil(() => balancer?.uses(fresh.port), { timeout: 30_000 });
        expect(created.length).toBeGreaterThan(before);
      }
    } finally {
      restarted = true;
      // If a replica does not start, that is the error to report, not the requests lost because of it.
      await Promise.allSettled(lanes);
    }
    expect(balancer.failures).toEqual([]);
    await Promise.all(lanes);
    const { 200: read, 201: made, ...others } = Object.fromEntries(balancer.statuses);
    expect([read, made]).toEqual([created.length, created.length]);
    expect(others).toEqual(delayed === 0 ? {} : { 503: delayed });
    const rows = await payments(reference);
    expect(rows.map(({ id }) => id).toSorted()).toEqual(created.toSorted());
    // Two replicas keep serving after SIGTERM, and two start.
  }, 120_000);

  test('a replica that is killed at work leaves the other serving, and no half payments', async () => {
    const reference = `killed-${randomUUID()}`;
    const answered = new Map<string, string>();
    let killed: Promise<unknown> | undefined;

    /** Creates until there is a response, on the other replica if its own is gone. */
    async function createUntilAnswered(replica: ServiceProcess): Promise<void> {
      const idempotencyKey = randomUUID();
      const body = { amount: 5000, customerReferenceId: reference };
      const request = { path: CREATE, body, idempotencyKey };
      let reply: Reply | undefined;
      for (let target = replica; reply?.status !== 201; ) {
        reply = await call(target, shop, request).catch(() => undefined);
        if (reply === undefined) target = two;
        // PostgreSQL releases the lock of a killed process when it notices, within a second.
        else if (reply.status === 409) await sleep(50);
        else if (reply.body.error?.message === CLAIM_FAILED) await sleep(50);
        else expect(reply.status, JSON.stringify(reply.body)).toBe(201);
      }
      answered.set(idempotencyKey, reply.body.prompt.id);
      // In the middle of it, since the other lanes have requests in flight.
      if (answered.size === 100) killed = one.stop('SIGKILL');
    }

    const lanes = Array.from({ length: 20 }, async (_, lane) => {
      for (let n = 0; n < 15; n++) await createUntilAnswered(lane % 2 ? one : two);
    });
    await Promise.all(lanes);
    await killed;
    expect(killed).toBeDefined();

    expect(answered.size).toBe(300);
    const { rows } = await sql<{ id: string; events: number }>`
      select id, (select count(*)::int from events where payment_id = payment.id) as events
      from payments as payment where customer_reference_id = ${reference}`.execute(database.db);
    expect(new Set(rows.map(({ id }) => id))).toEqual(new Set(answered.values()));
    expect(rows.filter(({ events }) => events !== 1)).toEqual([]);
    for (const [key, id] of answered) expect(await storedUnder(key)).toBe(id);
    expect(rows).toHaveLength(300);
  });

  test('none of them has logged a complaint', async () => {
    expect(await worker?.stop()).toBe(0);
    expect(complaints(started)).toEqual([]);
  });
});
