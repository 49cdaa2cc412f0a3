import { randomBytes } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { mpHere } from '../cli/mp.ts';
import type { MerchantWithKey, PartnerWithKey } from '../helpers/accounts.ts';
import { startTestApp } from '../helpers/app.ts';
import { openCheckout } from '../helpers/checkout.ts';
import { watchStalls } from '../helpers/stalls.ts';
import { startTcpProxy, type TcpProxy } from '../helpers/tcp-proxy.ts';
import { openAccounts, openDatabase } from './accounts.ts';
import { type FreezableServer, startFreezableServers } from './frozen-server.ts';
import {
  call,
  type ServiceProcess,
  serviceEnvironment,
  startReplica,
  startWorker,
} from './service-process.ts';
import { EMBEDDED_MISSING, hasEmbedded } from './standby.ts';

/** The service while its database hangs; without Redis, so that nonces hang as well. */

const CREATE = '/external/v1/payments/prompt';
const LIST = '/external/v1/payments';
const OVERVIEW = '/external/partner/overview';
/** The longest that a request, or the stop of a process, may take, in milliseconds. */
const LIMIT_MS = 10_000;
const SOON = { timeout: 60_000, interval: 50 };
/** Hangs last for seconds, and on a busy machine everything around them takes as long. */
const PATIENCE = { timeout: 180_000 };

const missing = !hasEmbedded();

describe.skipIf(missing)(missing ? EMBEDDED_MISSING : 'while the database hangs', PATIENCE, () => {
  const masterKey = randomBytes(32);
  const started: ServiceProcess[] = [];
  /** One per test, by the URL of its database. */
  const apis = new Map<string, ServiceProcess>();
  let worker: ServiceProcess;
  const sessions: pg.Client[] = [];
  const stalls = watchStalls();
  /** Its databases hang separately. */
  let server: FreezableServer;
  /** A copy that hangs as a whole. */
  let whole: FreezableServer;
  let proxy: TcpProxy;
  let shop: MerchantWithKey;
  let partner: PartnerWithKey;
  let paymentId: string;
  let checkoutPath: string;

  beforeAll(async () => {
    const [one, another] = await startFreezableServers(2, fill);
    if (one === undefined || another === undefined) throw new Error('a server is missing');
    [server, whole] = [one, another];
    const target = new URL(server.url);
    proxy = await startTcpProxy(target.hostname, Number(target.port));
    for (const url of [at('locked'), at('without_reports'), at('behind_network')]) {
      await copyDatabase(url);
    }
    // One after the other, and before any measurement: a start takes a second of CPU.
    for (const url of [behindProxy(), at('locked'), at('without_reports'), whole.url]) {
      const api = await startReplica(serviceEnvironment(url, masterKey));
      apis.set(url, api);
      started.push(api);
    }
    worker = startWorker(serviceEnvironment(behindProxy(), masterKey));
    started.push(worker);
  });
  afterAll(async () => {
    stalls.stop();
    for (const it of [server, whole]) it.thaw();
    await Promise.all(started.map(it => it.stop('SIGKILL')));
    await proxy.cut();
    await Promise.all(sessions.map(session => session.end()));
    await Promise.all([server.stop(), whole.stop()]);
  });

  /** Fills a database with accounts and a payment. */
  async function fill(url: string): Promise<void> {
    const migrated = await mpHere(['migrate'], serviceEnvironment(url, masterKey));
    expect(migrated).toMatchObject({ status: 0, err: '' });
    const db = openDatabase(url);
    const accounts = await openAccounts(db, masterKey);
    ({ partner, shop } = accounts);
    const app = await startTestApp({ ...accounts.operated, database: { db, url } });
    ({ paymentId, path: checkoutPath } = await openCheckout(app, shop));
    await app.close();
    await db.destroy();
  }

  async function openSession(url: string): Promise<pg.Client> {
    const session = new pg.Client({ connectionString: url });
    await session.connect();
    sessions.push(session);
    return session;
  }

  /** The URL of a database of the server. */
  const at = (name: string) => Object.assign(new URL(server.url), { pathname: `/${name}` }).href;

  const behindProxy = () =>
    Object.assign(new URL(at('behind_network')), { host: `127.0.0.1:${proxy.port}` }).href;

  /** Copies the database for a test that runs concurrently with others. */
  async function copyDatabase(url: string): Promise<void> {
    const [copy, original] = [url, server.url].map(each => new URL(each).pathname.slice(1));
    const session = await openSession(at('postgres'));
    await session.query(`create database ${copy} template ${original}`);
  }

  function apiOf(url: string): ServiceProcess {
    const api = apis.get(url);
    if (api === undefined) throw new Error('there is no such API');
    return api;
  }

  /** Requests of each kind, with their status, error code and duration. */
  const KINDS = {
    read: (api: ServiceProcess) => call(api, shop, { path: `${LIST}/${paymentId}` }),
    list: (api: ServiceProcess) => call(api, shop, { path: LIST }),
    networks: (api: ServiceProcess) => call(api, shop, { path: '/external/v1/blockchains/active' }),
    create: (api: ServiceProcess) => call(api, shop, { path: CREATE, body: { amount: 5000 } }),
    team: (api: ServiceProcess) => call(api, partner, { path: '/external/partner/team' }),
    overview: (api: ServiceProcess) => call(api, partner, { path: OVERVIEW }),
    report: (api: ServiceProcess) => call(api, partner, { path: '/external/partner/payments' }),
    checkout: async (api: ServiceProcess) => {
      const { status } = await fetch(`${api.url}${checkoutPath}`);
      return { status, body: {} };
    },
  };
  type Kind = keyof typeof KINDS;
  const ALL = Object.keys(KINDS) as Kind[];
  const without = (kind: Kind) => ALL.filter(each => each !== kind);

  interface Answer {
    readonly kind: Kind;
    /** Status, or the code of an error. */
    readonly answer: string | number;
    readonly seconds: number;
  }

  /** Sends several of each kind concurrently. */
  function ask(api: ServiceProcess, kinds: readonly Kind[] = ALL, each = 3): Promise<Answer[]> {
    const requests = kinds.flatMap(kind => Array.from({ length: each }, () => kind));
    return Promise.all(
      requests.map(async kind => {
        const sentAt = stalls.now();
        const { status, body } = await KINDS[kind](api);
        const seconds = (stalls.now() - sentAt) / 1000;
        return { kind, answer: body.error?.errorCode ?? status, seconds };
      }),
    );
  }

  /** Sends requests at once, and in the next seconds, while connections are given up and reopened. */
  async function askForAWhile(api: ServiceProcess, kinds: readonly Kind[] = ALL) {
    const waves = [0, 1_000, 4_000].map(async pause => {
      await sleep(pause);
      return ask(api, kinds);
    });
    return (await Promise.all(waves)).flat();
  }

  const tooLate = (answers: readonly Answer[]) =>
    answers.filter(({ seconds }) => seconds * 1000 > LIMIT_MS);

  /** The distinct responses. */
  const codesOf = (answers: readonly Answer[], kinds: readonly Kind[] = ALL) => [
    ...new Set(answers.filter(({ kind }) => kinds.includes(kind)).map(({ answer }) => answer)),
  ];

  const serves = (api: ServiceProcess) =>
    vi.waitUntil(async () => {
      const answers = await ask(api, ALL, 1);
      return codesOf(answers).every(answer => [200, 201].includes(Number(answer)));
    }, SOON);

  // These mostly wait for timeouts, so they wait concurrently, each with its own database or server.
  test.concurrent('a network that swallows everything keeps no request longer than 10 s; API and worker end in time', async () => {
    const api = apiOf(behindProxy());
    await serves(api);
    await vi.waitUntil(() => worker.logs.some(({ msg }) => msg === 'working'), SOON);
    proxy.hold();
    proxy.freeze();
    const asked = ask(api, without('create'));
    // Refused when its nonce is not claimed in time: the others have arrived by then.
    expect(codesOf(await ask(api, ['create']))).toEqual(['E5002']);
    const signalledAt = stalls.now();
    const took = async (process: ServiceProcess) => {
      const status = await process.stop();
      return [status, stalls.now() - signalledAt] as const;
    };
    const [answers, ends] = await Promise.all([asked, Promise.all([took(api), took(worker)])]);
    expect(tooLate(answers)).toEqual([]);
    expect(codesOf(answers, ['read', 'list', 'overview', 'report'])).toEqual(['E5002']);
    for (const [status, milliseconds] of ends) {
      expect(status).toBe(0);
      expect(milliseconds).toBeLessThan(LIMIT_MS);
    }
    expect(api.logs.filter(({ msg }) => msg === 'stopping took too long')).toEqual([]);
  });

  test.concurrent('a lock delays no request by more than 10 s', async () => {
    const url = at('locked');
    const api = apiOf(url);
    await serves(api);
    const session = await openSession(url);
    await session.query('begin; lock table payments, idempotency_keys in access exclusive mode');
    const answers = await askForAWhile(api, ['read', 'list', 'create', 'checkout', 'report']);
    await session.query('rollback');
    expect(tooLate(answers)).toEqual([]);
    expect(codesOf(answers).filter(answer => [200, 201].includes(Number(answer)))).toEqual([]);
    await serves(api);
    expect(await api.stop('SIGINT')).toBe(0);
  });

  test.concurrent('a frozen report session delays only reports, and those by less than 10 s', async () => {
    const url = at('without_reports');
    const api = apiOf(url);
    await serves(api);
    await ask(api, ['overview', 'report']);
    await server.freeze({ url, applicationName: 'eps-reports' });
    const answers = [
      // Alone, since others would wait for their connections, and fail earlier.
      ...(await ask(api, ['team'], 1)),
      ...(await ask(api)),
    ];
    server.thaw();
    expect(tooLate(answers)).toEqual([]);
    expect(answers[0]?.answer).toBe('E5002');
    expect(codesOf(answers, ['read', 'list', 'networks', 'checkout', 'create']).toSorted()).toEqual(
      [200, 201],
    );
    await serves(api);
    expect(await api.stop('SIGINT')).toBe(0);
  });

  test.concurrent('a frozen server delays no request by more than 10 s, and is used again', async () => {
    const api = apiOf(whole.url);
    await serves(api);
    await whole.freeze();
    const answers = await askForAWhile(api);
    whole.thaw();
    expect(tooLate(answers)).toEqual([]);
    expect(codesOf(answers, ['read', 'list', 'networks', 'overview', 'report'])).toEqual(['E5002']);
    expect(codesOf(answers, ['checkout'])).toEqual([503]);
    // A statement that was sent may have been executed.
    expect(['E5001', 'E5002']).toEqual(expect.arrayContaining(codesOf(answers, ['create'])));
    await serves(api);
    expect(await api.stop('SIGINT')).toBe(0);
  });
});
