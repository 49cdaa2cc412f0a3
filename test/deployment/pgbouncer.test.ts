import { randomBytes, randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import type { FastifyBaseLogger } from 'fastify';
import { sql } from 'kysely';
import pg from 'pg';
import { pino } from 'pino';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { readConfig } from '#config/config.ts';
import { createKeyring } from '#crypto/keyring.ts';
import { createEndpoint } from '#payments/webhooks/manage-endpoints.ts';
import { openStorage } from '#runtime/storage.ts';
import { connect, type Database } from '#storage/database/connection.ts';
import { isDatabaseUnavailable } from '#storage/database/errors.ts';
import { POOLED_SETTINGS, sessionConfig } from '#storage/database/session.ts';
import { inOneStatement, UncertainCommit } from '#storage/database/transaction.ts';
import { factsOf } from '#surfaces/docs/facts.ts';
import { fillFacts } from '#surfaces/docs/guides/index.ts';
import { mpHere } from '../cli/mp.ts';
import {
  addKey,
  type MerchantWithKey,
  operatorOf,
  type PartnerWithKey,
} from '../helpers/accounts.ts';
import { SOON } from '../helpers/soon.ts';
import { startTcpProxy } from '../helpers/tcp-proxy.ts';
import { type Receiver, startReceiver } from '../payments/webhooks/receiver.ts';
import { openAccounts } from './accounts.ts';
import { findPgBouncer, PGBOUNCER_MISSING, type PgBouncer, startPgBouncer } from './pgbouncer.ts';
import {
  call,
  complaints,
  failToStart,
  patiently,
  type ServiceProcess,
  serviceEnvironment,
  startReplica,
  startWorker,
} from './service-process.ts';
import { createTwoRoles, type TwoRoles } from './two-roles.ts';

/** The service with PgBouncer in transaction mode between its pools and PostgreSQL. */

const CREATE = '/external/v1/payments/prompt';
const LIST = '/external/v1/payments';
/** Sessions that PgBouncer shares among all its clients: far fewer than its clients. */
const SESSIONS = 4;

const GUIDE = fillFacts(
  readFileSync(
    new URL('../../src/surfaces/docs/guides/operating/pgbouncer.md', import.meta.url),
    'utf8',
  ),
  factsOf({ ...readConfig({}), client: undefined }),
  new Set(),
);
/** PgBouncer's settings in the guide, and the statements for each new session. */
const [, SESSION = '', SETTINGS = ''] =
  /```ini\n\[databases\]\n.* connect_query='([^']+)'\n\n\[pgbouncer\]\n(.*?)```/s.exec(GUIDE) ?? [];

const failureOf = (work: Promise<unknown>) =>
  work.then(
    () => undefined,
    (error: unknown) => error,
  );

const program = findPgBouncer();

describe.skipIf(program === undefined)(program ? 'behind PgBouncer' : PGBOUNCER_MISSING, () => {
  const masterKey = randomBytes(32);
  const clock = Object.assign(() => Date.now(), { now: 0 });
  const keyring = createKeyring([masterKey]);
  const bouncers: PgBouncer[] = [];
  const started: ServiceProcess[] = [];
  let roles: TwoRoles;
  let directUrl: string;
  let bouncer: PgBouncer;
  let env: Record<string, string>;
  let db: Database;
  let receiver: Receiver;
  let partner: PartnerWithKey;
  let shop: MerchantWithKey;
  let api: ServiceProcess;

  /** Starts PgBouncer with the guide's settings, but few sessions. */
  async function bounce(
    settings = '',
    { host = new URL(directUrl).host, session = SESSION } = {},
  ): Promise<PgBouncer> {
    const all = `${SETTINGS}\ndefault_pool_size = ${SESSIONS}\n${settings}`;
    const target = Object.assign(new URL(directUrl), { host });
    const made = await startPgBouncer(program ?? '', target.href, all, session);
    bouncers.push(made);
    return made;
  }

  function pooled({ url }: PgBouncer): Database {
    return connect({
      url,
      pooler: true,
      poolSize: SESSIONS,
      applicationName: 'test',
      onIdleError: () => undefined,
    });
  }

  beforeAll(async () => {
    receiver = await startReceiver();
    roles = await createTwoRoles();
    directUrl = roles.serviceUrl;
    const migrated = await mpHere(['migrate'], {
      ...serviceEnvironment(directUrl, masterKey),
      MIGRATION_DATABASE_URL: roles.ownerUrl,
    });
    expect(migrated).toMatchObject({ status: 0, err: '' });
    bouncer = await bounce();
    env = serviceEnvironment(bouncer.url, masterKey, { DATABASE_DIRECT_URL: directUrl });
    db = pooled(bouncer);
    const accounts = await openAccounts(db, masterKey);
    ({ partner, shop } = accounts);
    await createEndpoint(operatorOf(accounts.operated), keyring, {
      merchantId: shop.merchant.id,
      url: receiver.url,
      types: undefined,
      allowPrivateAddresses: true,
    });
    started.push(startWorker(env));
    api = await startReplica(env);
    started.push(api);
  });
  afterAll(async () => {
    await Promise.all(started.map(it => it.stop('SIGKILL')));
    await db?.destroy();
    await Promise.all(bouncers.map(it => it.stop()));
    await roles.drop();
    await receiver.close();
  });

  test('sessions have the settings of direct connections', async () => {
    const shown = async (config: pg.ClientConfig) => {
      const session = new pg.Client(config);
      await session.connect();
      const { rows } = await session.query(
        'select name, setting from pg_settings where name = any($1) order by name',
        [Object.keys(POOLED_SETTINGS)],
      );
      await session.end();
      return rows;
    };
    const direct = { url: directUrl, applicationName: 'test', plans: 'by-index' } as const;
    const pooled = await shown({ connectionString: bouncer.url });
    expect(pooled).toHaveLength(5);
    expect(pooled).toEqual(await shown(sessionConfig(direct)));
  });

  test('their plans use an index while a table is small', async () => {
    const plan = (connection: Database) =>
      connection.transaction().execute(async tx => {
        await sql`create temporary table small (id int primary key) on commit drop`.execute(tx);
        await sql`insert into small values (1)`.execute(tx);
        await sql`analyze small`.execute(tx);
        const { rows } = await sql`explain select from small where id = 1`.execute(tx);
        return JSON.stringify(rows);
      });
    expect(await plan(db)).toContain('Index Only Scan');
    // PostgreSQL's default plan, which it keeps even when the table has grown.
    const bare = await bounce('', {
      session: SESSION.replace(/set (jit|enable_seqscan) = off; /g, ''),
    });
    const warn = vi.fn();
    const config = readConfig({ ...env, DATABASE_URL: bare.url });
    const logger = { ...pino({ level: 'silent' }), warn } as unknown as FastifyBaseLogger;
    const storage = await openStorage(config, { holder: 'service', name: 'test', logger });
    await storage.databaseClock.measure();
    expect(await plan(storage.db)).toContain('Seq Scan');
    await storage.close();
    await bare.stop();
    expect(warn.mock.calls).toEqual([
      [
        'the sessions of the pooler lack enable_seqscan = off, jit = off: give them with connect_query, as in the guide to PgBouncer',
      ],
    ]);
  });

  test('a migration is not limited by the timeouts', async () => {
    const unlimited = { url: directUrl, applicationName: 'test', statementTimeoutMs: 0 };
    const session = new pg.Client(sessionConfig(unlimited));
    await session.connect();
    expect((await session.query('show statement_timeout')).rows).toEqual([
      { statement_timeout: '0' },
    ]);
    await session.end();
  });

  test('payments are created, read and listed by many concurrently', async () => {
    const created = await Promise.all(
      Array.from({ length: 40 }, () =>
        patiently(api, shop, { path: CREATE, body: { amount: 5000 } }),
      ),
    );
    expect(created.filter(({ status }) => status !== 201)).toEqual([]);
    const ids = created.map(({ body }) => body.prompt.id);
    const read = await Promise.all(ids.map(id => patiently(api, shop, { path: `${LIST}/${id}` })));
    expect(read.map(({ body }) => body.id)).toEqual(ids);
    const first = await patiently(api, shop, { path: `${LIST}?limit=25` });
    const last = first.body.data.at(-1).id;
    const second = await patiently(api, shop, { path: `${LIST}?limit=25&startingAfter=${last}` });
    const listed = [...first.body.data, ...second.body.data].map(({ id }) => id);
    expect(listed.toSorted()).toEqual(ids.toSorted());
    await receiver.received(40);
    const told = receiver.requests.map(({ event }) => event.data.id);
    expect(new Set(told)).toEqual(new Set(ids));
  });

  test('concurrent creates with one key make one payment, which is replayed', async () => {
    const customerReferenceId = randomUUID();
    const request = {
      path: CREATE,
      body: { amount: 5000, customerReferenceId },
      idempotencyKey: randomUUID(),
    };
    const replies = await Promise.all(
      Array.from({ length: 20 }, () => patiently(api, shop, request)),
    );
    expect(replies.filter(it => it.status === 201 && !it.replayed)).toHaveLength(1);
    const rest = replies.filter(it => it.status !== 201).map(it => it.body.error.errorCode);
    expect(rest.filter(code => code !== 'E4003')).toEqual([]);
    expect(await patiently(api, shop, request)).toMatchObject({ status: 201, replayed: true });
    const path = `${LIST}?customerReferenceId=${customerReferenceId}`;
    expect((await patiently(api, shop, { path })).body.data).toHaveLength(1);
  });

  test('a partner reads its reports', async () => {
    const { body } = await patiently(api, partner, { path: '/external/partner/overview' });
    const made = await db.selectFrom('payments').select('id').execute();
    expect(body.metrics.totalPayments).toBe(made.length);
  });

  test('a key that is revoked is refused once the command has returned', async () => {
    const key = await addKey({ db, clock, keyring }, { merchantId: shop.merchant.id });
    for (const _ of [1, 2]) expect((await patiently(api, key, { path: LIST })).status).toBe(200);
    expect(await mpHere(['key', 'revoke', key.keyId], env)).toMatchObject({ status: 0, err: '' });
    expect((await patiently(api, key, { path: LIST })).body.error?.errorCode).toBe('E2005');
  });

  test('only what needs its own sessions has them', async () => {
    const own = ['eps-changes', 'eps-reads', 'eps-reports'];
    // PostgreSQL counts a closed session for a moment longer.
    await vi.waitFor(async () => {
      const { rows } = await sql<{ name: string; sessions: number }>`
        select application_name as name, count(*) as sessions from pg_stat_activity
        where datname = current_database() and backend_type = 'client backend'
          and pid <> pg_backend_pid() group by name`.execute(db);
      const sessions = new Map(rows.map(row => [row.name, row.sessions]));
      const shared = rows.filter(row => !own.includes(row.name));
      expect(shared.reduce((sum, row) => sum + row.sessions, 1)).toBeLessThanOrEqual(SESSIONS);
      expect(sessions.get('eps-reads')).toBe(2);
      expect(sessions.get('eps-changes')).toBe(1);
      expect(sessions.get('eps-reports')).toBeLessThanOrEqual(4);
    }, SOON);
    expect(GUIDE).toContain(`: ${2 + 1 + 4} connections of each replica`);
  });

  test('nothing is left in the shared sessions', async () => {
    const given = Object.keys(POOLED_SETTINGS);
    const found: unknown[] = [];
    let open = () => {};
    const allHold = new Promise<void>(resolve => {
      open = resolve;
    });
    // As many concurrent transactions as there are sessions inspect each of them.
    await Promise.all(
      Array.from({ length: SESSIONS }, () =>
        db.transaction().execute(async tx => {
          const { rows } = await sql`
            select pg_backend_pid() as session,
                   (select count(*) from pg_prepared_statements) as statements,
                   (select count(*) from pg_listening_channels()) as channels,
                   (select count(*) from pg_locks where pid = pg_backend_pid()
                      and locktype = 'advisory') as locks,
                   (select count(*) from pg_settings where source = 'session'
                    and name <> 'application_name' and name <> all(${given})) as settings`.execute(
            tx,
          );
          found.push(...rows);
          if (found.length === SESSIONS) open();
          await allHold;
        }),
      ),
    );
    expect(new Set(found.map(row => (row as { session: number }).session)).size).toBe(SESSIONS);
    expect(found).toEqual(
      found.map(() => ({
        session: expect.any(Number),
        statements: 0,
        channels: 0,
        locks: 0,
        settings: 0,
      })),
    );
  });

  test('no process has logged a complaint', async () => {
    await vi.waitUntil(async () => {
      const { rows } = await sql`select from webhook_deliveries where status = 'pending'`.execute(
        db,
      );
      return rows.length === 0;
    }, 10_000);
    expect(complaints(started)).toEqual([]);
    const told = bouncer.log.filter(line => /WARNING|ERROR|prepared statement/.test(line));
    expect(told.filter(line => !line.includes('query_wait_timeout'))).toEqual([]);
  });

  describe('a create', () => {
    const request = () => ({
      path: CREATE,
      body: { amount: 5000, customerReferenceId: randomUUID() },
      idempotencyKey: randomUUID(),
    });

    test('without a session is refused with a retry, and creates nothing', async () => {
      let open = () => {};
      const released = new Promise<void>(resolve => {
        open = resolve;
      });
      let held = 0;
      const holders = Array.from({ length: SESSIONS }, () =>
        db.transaction().execute(async tx => {
          await sql`select`.execute(tx);
          held += 1;
          await released;
        }),
      );
      await vi.waitUntil(() => held === SESSIONS, SOON);
      const create = request();
      const pool = pooled(bouncer);
      const [refused, failure] = await Promise.all([
        call(api, shop, create),
        failureOf(inOneStatement(pool, connection => sql`select`.execute(connection))),
      ]);
      open();
      await Promise.all([...holders, pool.destroy()]);
      expect(refused).toMatchObject({ status: 503, body: { error: { errorCode: 'E5002' } } });
      expect(failure).not.toBeInstanceOf(UncertainCommit);
      expect(isDatabaseUnavailable(failure)).toBe(true);
      // Requests that queued up meanwhile come first, so it may be refused once more.
      const created = await patiently(api, shop, create);
      expect([created.status, created.body]).toEqual([201, expect.anything()]);
      expect(created.replayed).toBe(false);
    });

    test('whose session PgBouncer loses may have been executed', async () => {
      const { hostname, port } = new URL(directUrl);
      const proxy = await startTcpProxy(hostname, Number(port || 5432));
      const breakable = await bounce('', { host: `127.0.0.1:${proxy.port}` });
      const pool = pooled(breakable);
      const failing = failureOf(
        inOneStatement(pool, connection => sql`select pg_sleep(20)`.execute(connection)),
      );
      await vi.waitUntil(async () => {
        const { rows } = await sql`
          select from pg_stat_activity where query = 'select pg_sleep(20)'
            and datname = current_database()`.execute(db);
        return rows.length > 0;
      }, SOON);
      await proxy.cut();
      expect(await failing).toBeInstanceOf(UncertainCommit);
      await pool.destroy();
    });
  });

  test('they stop gracefully', async () => {
    expect(await Promise.all(started.map(it => it.stop()))).toEqual([0, 0]);
  });

  // The worker, where it and the API refuse the same: it starts in half the time.
  describe.concurrent('without DATABASE_DIRECT_URL', () => {
    test.each([
      ['that refuses settings', ''],
      [
        'that ignores them',
        'ignore_startup_parameters = statement_timeout, idle_in_transaction_session_timeout, options',
      ],
    ])('a PgBouncer %s is reported at the start', async (_, settings) => {
      const { url } = settings === '' ? bouncer : await bounce(settings);
      const told =
        'DATABASE_URL leads to a pooler such as PgBouncer. Name PostgreSQL itself in DATABASE_DIRECT_URL as well.';
      const alone = serviceEnvironment(url, masterKey);
      const { status, last } = await failToStart(alone, 'src/worker.ts');
      expect({ status, last }).toMatchObject({ status: 1, last: { msg: told } });
      const migrating = await mpHere(['migrate'], alone);
      expect(migrating).toMatchObject({ status: 1, out: '' });
      expect(migrating.err).toContain(told);
    });

    test('it is not taken for a direct connection either', async () => {
      await Promise.all(
        [
          ['DATABASE_DIRECT_URL', 'src/worker.ts'] as const,
          ['DATABASE_REPORTS_URL', 'src/server.ts'] as const,
        ].map(async ([variable, script]) => {
          const misled = { ...env, [variable]: bouncer.url };
          const { status, last } = await failToStart(misled, script);
          const message = `${variable} leads to a pooler such as PgBouncer. It has to be PostgreSQL itself.`;
          expect({ status, last }).toMatchObject({ status: 1, last: { msg: message } });
        }),
      );
      const migrating = await mpHere(['migrate'], { ...env, MIGRATION_DATABASE_URL: bouncer.url });
      expect(migrating.err).toContain('MIGRATION_DATABASE_URL leads to a pooler');
    });
  });
});
