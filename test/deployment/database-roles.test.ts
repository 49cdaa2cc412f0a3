import { randomBytes } from 'node:crypto';
import { sql } from 'kysely';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import type { Database } from '#storage/database/connection.ts';
import { readRights } from '#storage/database/service-role.ts';
import { dropPartitions, makePartitions } from '#storage/repositories/partitions.ts';
import { cleanUpLoop } from '#worker/clean-up.ts';
import { SMALL_LOOPS } from '#worker/small-loops.ts';
import { newAddress } from '../accounts/account-of-changes.ts';
import { mp, mpHere } from '../cli/mp.ts';
import { ADDRESSES } from '../helpers/accounts.ts';
import { freePort } from '../helpers/redis-server.ts';
import { SOON } from '../helpers/soon.ts';
import { type Receiver, startReceiver } from '../payments/webhooks/receiver.ts';
import { BODY, basic, PROMPT } from '../surfaces/legacy/older-contract.ts';
import { parseExposition, sumOf } from '../telemetry/exposition.ts';
import { openDatabase } from './accounts.ts';
import {
  call,
  complaints,
  failToStart,
  type ServiceProcess,
  serviceEnvironment,
  startReplica,
  startWorker,
} from './service-process.ts';
import { createTwoRoles, type TwoRoles } from './two-roles.ts';

/** The service with a role that may only read and write rows, in a database that belongs to another. */

const CREATE = '/external/v1/payments/prompt';
const LIST = '/external/v1/payments';
const DAY_MS = 86_400_000;
const masterKey = randomBytes(32);
const started: ServiceProcess[] = [];
const opened: Database[] = [];
let roles: TwoRoles;
let env: Record<string, string>;
let owner: Database;
let receiver: Receiver;

// biome-ignore lint/suspicious/noExplicitAny: each test says what it expects of the document.
type Document = any;

/** Runs an operator's command, with the service's role. */
async function ask(...args: string[]): Promise<Document> {
  const { status, out, err } = await mpHere([...args, '--json'], env);
  if (status !== 0 || err !== '') throw new Error(`mp ${args.join(' ')}: ${status} ${err}`);
  return JSON.parse(out);
}

function open(url: string): Database {
  const db = openDatabase(url);
  opened.push(db);
  return db;
}

beforeAll(async () => {
  [roles, receiver] = await Promise.all([createTwoRoles(), startReceiver()]);
  env = serviceEnvironment(roles.serviceUrl, masterKey, {
    SIMULATION: 'on',
    PROCESSOR: 'sandbox',
    STRIPE_SECRET_KEY: '',
    STRIPE_WEBHOOK_SECRET: '',
  });
  owner = open(roles.ownerUrl);
});
afterAll(async () => {
  await Promise.all(started.map(it => it.stop('SIGKILL')));
  await Promise.all(opened.map(it => it.destroy()));
  await roles.drop();
  await receiver.close();
});

describe('mp migrate', () => {
  test('creates the role and grants it what it needs, also when several run concurrently', async () => {
    const owning = { ...env, MIGRATION_DATABASE_URL: roles.ownerUrl };
    const migrated = await Promise.all([1, 2, 3].map(() => mp(['migrate'], owning)));
    expect(migrated.map(({ status, err }) => ({ status, err }))).toEqual(
      migrated.map(() => ({ status: 0, err: '' })),
    );
    const created = `The role ${roles.service} has been created.`;
    expect(migrated.filter(({ out }) => out.includes(created))).toHaveLength(1);
    const again = await mpHere(['migrate', '--json'], owning);
    expect(JSON.parse(again.out)).toEqual({ applied: [], createdRole: null });
  });

  test('finds the primary as the owner while the role does not exist', async () => {
    const fresh = await createTwoRoles();
    const twice = (url: string) => {
      const { host } = new URL(url);
      return url.replace(`@${host}`, `@${host},${host}`);
    };
    const asBoth = {
      ...serviceEnvironment(twice(fresh.serviceUrl), masterKey),
      MIGRATION_DATABASE_URL: twice(fresh.ownerUrl),
    };
    expect(await mpHere(['migrate'], asBoth)).toMatchObject({ status: 0, err: '' });
    await fresh.drop();
  });

  test('requires the owner, unless there is nothing to do', async () => {
    expect(await mpHere(['migrate'], env)).toMatchObject({ status: 0, err: '' });
    const newest = sql`(select max(name) from kysely_migration)`;
    const taken = await sql<{ name: string; timestamp: string }>`
      delete from kysely_migration where name = ${newest} returning *`.execute(owner);
    expect(await mpHere(['migrate'], env)).toEqual({
      status: 1,
      out: '',
      err: `The role ${roles.service} may not change the schema: set MIGRATION_DATABASE_URL for its owner.\n`,
    });
    for (const { name, timestamp } of taken.rows) {
      await sql`insert into kysely_migration (name, timestamp) values (${name}, ${timestamp})`.execute(
        owner,
      );
    }
  });
});

test('a payment is created, paid, reported by webhook and in reports', async () => {
  // Before a replica listens, since each change then waits half a second for it.
  const partner = await ask('partner', 'create', '--name', 'Group', '--self-service', 'on');
  const identity = ['--name', 'Ada', '--email', 'ada@example.com'];
  const member = await ask(
    'member',
    'create',
    '--partner',
    partner.id,
    ...identity,
    '--role',
    'owner',
  );
  const shop = await ask('merchant', 'create', ...identity, '--partner', partner.id);
  const address = ['--blockchain', 'eth', '--address', ADDRESSES.eth];
  await ask('address', 'set', '--merchant', shop.id, ...address);
  await ask('domain', 'add', '--merchant', shop.id, '--domain', 'shop.example.com');
  await ask('webhook', 'create', '--merchant', shop.id, '--url', receiver.url);
  const partnerKey = await ask('key', 'create', '--member', member.id, '--name', 'Key');
  const worker = startWorker(env);
  started.push(worker);
  const api = await startReplica(env);
  started.unshift(api);

  const body = { merchantId: shop.id, amount: 5000, customerReferenceId: 'order' };
  const request = { path: CREATE, body, idempotencyKey: 'once' };
  const first = await call(api, partnerKey, request);
  expect(first).toMatchObject({ status: 201, replayed: false });
  expect(await call(api, partnerKey, request)).toMatchObject({ status: 201, replayed: true });
  const paid = first.body.prompt.id;
  await ask('payment', 'simulate', paid, '--case', 'confirm', '--network', 'eth');
  const second = await call(api, partnerKey, { path: CREATE, body });
  const late = second.body.prompt.id;
  await sql`
    update payments set expires_at = created_at + interval '1 millisecond' where id = ${late}`.execute(
    owner,
  );

  const told = () => receiver.requests.map(({ event }) => `${event.type} ${event.data.id}`);
  await vi.waitUntil(() => told().includes(`payment_prompt.expired ${late}`), { timeout: 40_000 });
  await vi.waitUntil(() => told().includes(`payment_prompt.successful ${paid}`), SOON);
  const search = '/external/partner/payments?status=successful&search=order';
  expect((await call(api, partnerKey, { path: search })).body.data).toMatchObject([{ id: paid }]);
  const overview = await call(api, partnerKey, { path: '/external/partner/overview' });
  expect(overview.body.metrics).toMatchObject({ totalPayments: 2, totalVolume: 50 });
  await ask('partner', 'verify', partner.id);
  expect(await ask('payment', 'history', paid)).not.toEqual([]);
  expect(await ask('audit', '--object', shop.id)).not.toEqual([]);
  await ask('key', 'rotate', partnerKey.keyId);
  await ask('key', 'revoke', partnerKey.keyId);
  expect((await call(api, partnerKey, { path: LIST })).body.error.errorCode).toBe('E2005');
  // Two processes start, and the worker looks for what has expired.
}, 120_000);

test('US accounts and the older contract work as well', async () => {
  const [api] = started as [ServiceProcess];
  const identity = ['--name', 'Shop', '--email', 'shop@example.com'];
  const [us, shop] = await Promise.all([
    ask('merchant', 'create', ...identity, '--kind', 'us'),
    ask('merchant', 'create', ...identity),
  ]);
  const own = { btc: ADDRESSES.btc, eth: newAddress() };
  const address = (id: keyof typeof own) => ['--blockchain', id, '--address', own[id]];
  const [key, user] = await Promise.all([
    ask('key', 'create', '--merchant', us.id, '--name', 'Key'),
    ask('user', 'create', '--merchant', shop.id, ...identity, '--role', 'admin'),
    ask('merchant', 'set', us.id, '--onboarding', 'approved'),
    ask('address', 'set', '--merchant', shop.id, ...address('btc')),
    ask('address', 'set', '--merchant', shop.id, ...address('eth')),
  ]);
  expect(await call(api, key, { path: CREATE, body: { amount: 700 } })).toMatchObject({
    status: 201,
  });
  const { clientId, apiKey } = await ask('user', 'legacy-key', user.id);
  const response = await fetch(`${api.url}${PROMPT}`, {
    method: 'POST',
    headers: { authorization: basic(clientId, apiKey), 'content-type': 'application/json' },
    body: JSON.stringify(BODY),
  });
  expect(response.status).toBe(201);
});

test('expired rows are removed', async () => {
  const db = open(roles.serviceUrl);
  const { signal } = new AbortController();
  const kept = async () =>
    Promise.all([
      sql`select from idempotency_keys`.execute(owner).then(({ rows }) => rows.length),
      sql`select from nonces`.execute(owner).then(({ rows }) => rows.length),
      sql`select from partner_deltas`.execute(owner).then(({ rows }) => rows.length),
    ]);
  expect((await kept())[0]).toBeGreaterThan(0);
  await cleanUpLoop(db, () => Date.now() + 2 * DAY_MS).run(signal, () => undefined);
  await SMALL_LOOPS.foldPartnerDeltas({ db, clock: Date.now }).run(signal, () => undefined);
  expect(await kept()).toEqual([0, 0, 0]);
});

test('months are created and dropped without the right to alter tables, and accessed only through their table', async () => {
  const db = open(roles.serviceUrl);
  const later = new Date(Date.now() + 300 * DAY_MS);
  const made = await makePartitions(db, later);
  expect(made.length).toBeGreaterThan(4 * 5);
  expect((await readRights(db)).excess).toEqual([]);
  const [month = ''] = made.filter(name => name.startsWith('events_'));
  for (const statement of [
    `select from ${month}`,
    `update ${month} set type = ''`,
    `drop table ${month}`,
    `select make_month_partition('events', now() + interval '14 months')`,
  ]) {
    await expect(sql.raw(statement).execute(db)).rejects.toThrow(/permission denied|must be owner/);
  }
  expect(await dropPartitions(db, 'events', { now: later, days: 0 })).toEqual([]);
  const password = decodeURIComponent(new URL(roles.serviceUrl).password);
  await sql`create role eps_reader_of_months login password ${sql.lit(password)}`.execute(owner);
  try {
    const reader = open(
      Object.assign(new URL(roles.serviceUrl), { username: 'eps_reader_of_months' }).href,
    );
    await expect(makePartitions(reader, later)).rejects.toThrow('only who may insert');
    await expect(dropPartitions(reader, 'events', { now: later, days: 0 })).rejects.toThrow(
      'only who may delete',
    );
  } finally {
    await sql`drop role eps_reader_of_months`.execute(owner);
  }
});

test("nothing that the service has created runs with the owner's rights", async () => {
  const db = open(roles.serviceUrl);
  // As a database that has had months for long, and no older ones.
  await owner.transaction().execute(async tx => {
    await sql`drop table webhook_attempts_before, webhook_deliveries_before, events_before`.execute(
      tx,
    );
    await sql`
      select make_month_partition(name, date_trunc('month', now()) - interval '4 months')
      from unnest(array['events', 'webhook_deliveries', 'webhook_attempts']) as name`.execute(tx);
  });
  await db.connection().execute(async session => {
    const drop = (tables: string[]) =>
      sql<{ name: string | null }>`
        select drop_month_partition(${tables}::text[], now()) as name`.execute(session);
    const [{ name } = { name: null }] = (await drop(['webhook_deliveries'])).rows;
    expect(name).toMatch(/^webhook_deliveries_\d{6}$/);
    // In place of what it has dropped.
    const view = sql.id(name ?? '');
    await sql`
      create function pg_temp.become() returns text language plpgsql as $$
      begin raise exception 'it runs as %', current_user; end $$`.execute(session);
    await sql`create temp view ${view} as select pg_temp.become() as status`.execute(session);
    await sql`grant select on ${view} to public`.execute(session);
    const rest = await drop(['events', 'webhook_deliveries', 'webhook_attempts']);
    expect(rest.rows[0]?.name).toMatch(/^webhook_attempts_\d{6}$/);
  });
});

test('no process has logged a complaint, and all stop gracefully', async () => {
  const isWarning = ({ msg }: { msg: unknown }) => String(msg).startsWith('SIMULATION is on');
  expect(complaints(started).filter(line => !isWarning(line))).toEqual([]);
  expect(await Promise.all(started.splice(0).map(it => it.stop()))).toEqual([0, 0]);
  // Counted in the process, and written at the latest when it ends.
  expect(await ask('legacy', 'usage', '--since', '2026-01-01')).not.toEqual([]);
});

// Each starts a process: they start concurrently.
describe.concurrent('in production', () => {
  const NODE_ENV = 'production';
  const PUBLIC_URL = 'https://pay.example.test';

  /** A process's report of its rights, and its metric. */
  async function rightsOf(more: Record<string, string>) {
    const METRICS_PORT = String(await freePort());
    const api = await startReplica({
      ...env,
      SIMULATION: '',
      PROCESSOR: '',
      NODE_ENV,
      PUBLIC_URL,
      METRICS_PORT,
      ...more,
    });
    started.push(api);
    const metrics = await fetch(`http://127.0.0.1:${METRICS_PORT}/metrics`);
    const scraped = await metrics.text();
    const counted = sumOf(parseExposition(scraped), 'eps_database_role_excess_rights');
    await api.stop('SIGINT');
    const said = api.logs.filter(({ msg }) =>
      String(msg).startsWith('the database role may do more'),
    );
    return {
      scraped,
      counted,
      said: said.map(({ level, role, excess }) => ({ level, role, excess })),
    };
  }

  test('the service’s role has no more rights than it needs, and the quoted metric exists', async () => {
    const { scraped, ...rights } = await rightsOf({});
    expect(rights).toEqual({ counted: 0, said: [] });
    expect(scraped).toContain('# TYPE eps_rate_available gauge');
  });

  test('an owner works, but the log and a metric say so', async () => {
    const { counted, said } = await rightsOf({ DATABASE_URL: roles.ownerUrl });
    expect(said).toEqual([
      {
        level: 'warn',
        role: roles.owner,
        excess: [
          'may create roles',
          'owns tables',
          'may create in the schema',
          'has more privileges on tables than are granted by "mp migrate"',
        ],
      },
    ]);
    expect(counted).toBe(4);
  });

  test('so they do for a direct connection, and for a process that knows the owner', async () => {
    const { said } = await rightsOf({
      DATABASE_DIRECT_URL: roles.ownerUrl,
      MIGRATION_DATABASE_URL: roles.ownerUrl,
    });
    expect(said.map(({ role }) => role)).toEqual([roles.owner, roles.owner]);
    expect(said[1]?.excess).toEqual([
      'is open to this process, which knows MIGRATION_DATABASE_URL',
    ]);
  });
});

test('a role without grants gets instructions', async () => {
  await sql`revoke all on all tables in schema public from ${sql.id(roles.service)}`.execute(owner);
  const told = `The role ${roles.service} may not read the database: run "npx --no mp migrate" first, with MIGRATION_DATABASE_URL.`;
  expect((await mpHere(['network', 'list'], env)).err).toBe(`${told}\n`);
  const { status, last } = await failToStart(env, 'src/worker.ts');
  expect({ status, last }).toMatchObject({
    status: 1,
    last: { msg: told },
  });
});
