import { spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { sql } from 'kysely';
import { afterAll, beforeAll, expect, inject, test, vi } from 'vitest';
import { readConfig } from '#config/config.ts';
import { createKeyring } from '#crypto/keyring.ts';
import { mp } from '../cli/mp.ts';
import {
  addMerchant,
  addPartner,
  type MerchantWithKey,
  type PartnerWithKey,
} from '../helpers/accounts.ts';
import { QUICK_START } from '../helpers/compile-cache.ts';
import { problemsOf } from '../helpers/config-problems.ts';
import { cloneDatabase, type TestDatabase } from '../helpers/database.ts';
import { freePort, launchRedis, REDIS_MISSING } from '../helpers/redis-server.ts';
import { watchNetworks } from '../helpers/watch-networks.ts';
import { call, serviceEnvironment } from './service-process.ts';

/** Whatever fails, and however, a process's output contains no secret of the configuration. */

const ROOT = join(import.meta.dirname, '../..');
const SOON = { timeout: 50_000, interval: 50 };
const CREATE = '/external/v1/payments/prompt';
const masterKey = randomBytes(32);
const keyring = createKeyring([masterKey]);
const clock = Object.assign(() => Date.now(), { now: 0 });

/** A wrong password for each secret. */
const secret = (name: string) => `hunter2-${name}-${randomBytes(6).toString('hex')}`;
const PASSWORDS = {
  main: secret('main'),
  reports: secret('reports'),
  redis: secret('redis'),
  mail: secret('mail'),
};

let database: TestDatabase;
let nobody: number;
/** Every secret variable, such that what depends on it fails. */
let env: Record<string, string>;
let shop: MerchantWithKey;
let us: MerchantWithKey;
let partner: PartnerWithKey;
const stripe = createServer((_request, response) => response.writeHead(401).end('{"error":{}}'));

beforeAll(async () => {
  [database, nobody] = [await cloneDatabase(), await freePort()];
  stripe.listen(0, '127.0.0.1');
  await once(stripe, 'listening');
  const { port } = stripe.address() as AddressInfo;
  const operated = { db: database.db, clock, keyring };
  await watchNetworks(database.db);
  shop = await addMerchant(operated);
  us = await addMerchant(operated, { kind: 'us' });
  partner = await addPartner(operated);
  env = serviceEnvironment(database.url, masterKey, {
    DATABASE_DIRECT_URL: database.url,
    DATABASE_REPORTS_URL: `postgres://eps:${PASSWORDS.reports}@127.0.0.1:${nobody}/eps`,
    MIGRATION_DATABASE_URL: database.url,
    MASTER_KEYS_PREVIOUS: randomBytes(32).toString('base64'),
    STRIPE_SECRET_KEY: 'sk_test_hunter2stripe',
    STRIPE_WEBHOOK_SECRET: 'whsec_hunter2webhook',
    SMTP_URL: `smtps://eps:${PASSWORDS.mail}@127.0.0.1:${nobody}`,
    MAIL_FROM: 'payments@example.com',
    STRIPE_API_URL: `http://127.0.0.1:${port}`,
  });
});
afterAll(async () => {
  stripe.close();
  await database.drop();
});

/** What must not be in the output, for an environment. */
function secretsOf(environment: Record<string, string>): string[] {
  return secretVariables().flatMap(name => {
    const value = environment[name];
    if (value === undefined) return [];
    const password = URL.canParse(value) ? new URL(value).password : '';
    const bytes = name.startsWith('MASTER') ? Buffer.from(value, 'base64').toString('hex') : '';
    return [value, password, encodeURIComponent(value), bytes].filter(text => text !== '');
  });
}

/** Variables whose invalid values are not repeated. */
function secretVariables(): string[] {
  const read = new Set<string>();
  const get = (_target: object, name: string | symbol) => void read.add(String(name));
  readConfig(new Proxy<Record<string, string>>({}, { get }));
  return [...read].filter(name =>
    problemsOf({ [name]: ' hunter2 ' }).some(
      problem => problem.startsWith(`${name} is a value of`) && !problem.includes('hunter2'),
    ),
  );
}

function expectNoSecret(output: string, environment: Record<string, string>): void {
  expect(output).not.toBe('');
  for (const text of secretsOf(environment)) expect(output).not.toContain(text);
  // The client that pg attaches to errors has the key that cancels its queries.
  expect(output).not.toMatch(/secretKey|hunter2/);
}

/** Starts a process and collects its output. */
async function start(script: 'server' | 'worker', environment: Record<string, string>) {
  const port = await freePort();
  const child = spawn(process.execPath, [join(ROOT, `src/${script}.ts`)], {
    env: { ...environment, ...QUICK_START, PORT: String(port) },
  });
  const process_ = { url: `http://127.0.0.1:${port}`, output: '', exited: once(child, 'close') };
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8').on('data', text => {
      process_.output += text;
    });
  }
  const listens = () => fetch(`${process_.url}/healthz`).then(({ ok }) => ok);
  return Object.assign(process_, {
    listening: () => vi.waitUntil(() => listens().catch(() => false), SOON),
    wrote: (text: string) => vi.waitUntil(() => process_.output.includes(text), SOON),
    async stop() {
      child.kill('SIGKILL');
      await process_.exited;
    },
  });
}

/** Ends every session of processes with the database. */
const endSessions = () =>
  sql`
    select pg_terminate_backend(pid) from pg_stat_activity
    where datname = current_database() and application_name like 'eps-%'`.execute(database.db);

test('the tested secrets are those of the configuration', () => {
  expect(secretVariables().toSorted()).toEqual(
    [...Object.keys(env), 'REDIS_URL']
      .filter(name =>
        /^((MIGRATION_)?DATABASE_.*URL|MASTER_|REDIS_URL|SMTP_URL|STRIPE_.*(KEY|SECRET))/.test(
          name,
        ),
      )
      .toSorted(),
  );
});

// They wait concurrently: while Redis refuses, one start waits twenty seconds for it.
test.concurrent('while Stripe, the reports and then the database fail', async () => {
  const [api, worker] = await Promise.all([start('server', env), start('worker', env)]);
  try {
    await api.listening();
    await worker.wrote('"working"');
    expect(await call(api, us, { path: CREATE, body: { amount: 5000 } })).toMatchObject({
      status: 409,
    });
    const report = await call(api, partner, { path: '/external/partner/overview' });
    expect(report.status).toBe(503);
    await call(api, shop, { path: CREATE, body: { amount: 5000 } });
    await endSessions();
    await Promise.all([worker.wrote('connection lost'), api.wrote('connection lost')]);
  } finally {
    await Promise.all([api.stop(), worker.stop()]);
  }
  for (const { output } of [api, worker]) expectNoSecret(output, env);
  expect(api.output).toContain('StripeAuthenticationError');
});

test.skipIf(inject('redisServer') === null).concurrent(
  inject('redisServer') === null ? REDIS_MISSING : 'while Redis refuses the password',
  async () => {
    const redis = await launchRedis(await freePort(), ['--requirepass', 'another']);
    const { port } = new URL(redis.url);
    // Sessions with the other tests' database are ended.
    const { db, url, drop } = await cloneDatabase();
    const merchant = await addMerchant({ db, clock, keyring });
    const refused = {
      ...env,
      DATABASE_URL: url,
      DATABASE_DIRECT_URL: url,
      REDIS_URL: `redis://:${PASSWORDS.redis}@127.0.0.1:${port}`,
    };
    const api = await start('server', refused);
    try {
      await api.listening();
      const create = await call(api, merchant, { path: CREATE, body: { amount: 5000 } });
      expect(create.status).toBe(503);
      expect((await call(api, merchant, { path: '/external/v1/payments' })).status).toBe(200);
      await api.wrote('WRONGPASS');
      await api.wrote('read served without replay protection');
    } finally {
      await Promise.all([api.stop(), redis.stop()]);
      await drop();
    }
    expectNoSecret(api.output, refused);
  },
  100_000,
);

test.concurrent('when the database rejects the password, or is missing', async () => {
  const wrong = new URL(database.url);
  wrong.password = PASSWORDS.main;
  const gone = new URL(wrong);
  gone.port = String(nobody);
  const refuse = async ({ href }: URL) => {
    const refused = { ...env, DATABASE_URL: href, DATABASE_DIRECT_URL: href };
    const processes = await Promise.all([start('server', refused), start('worker', refused)]);
    for (const { exited } of processes) expect(await exited).toEqual([1, null]);
    for (const { output } of processes) expectNoSecret(output, refused);
    const { err } = await mp(['network', 'list'], refused);
    expectNoSecret(err, refused);
  };
  await Promise.all([wrong, gone].map(refuse));
});

test.concurrent('when the secrets themselves are invalid', async () => {
  const invalid = Object.fromEntries(secretVariables().map(name => [name, secret(name)]));
  const api = await start('server', { ...env, ...invalid });
  expect(await api.exited).toEqual([1, null]);
  expectNoSecret(api.output, { ...env, ...invalid });
  for (const name of secretVariables()) expect(api.output).toContain(`${name} is a value of`);
});
