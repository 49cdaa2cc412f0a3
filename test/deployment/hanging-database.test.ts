import { randomBytes } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import type { Database } from '../../src/database/connection.ts';
import { mpHere } from '../cli/mp.ts';
import type { MerchantWithKey, PartnerWithKey } from '../helpers/accounts.ts';
import { watchStalls } from '../helpers/stalls.ts';
import { startTcpProxy, type TcpProxy } from '../helpers/tcp-proxy.ts';
import { openAccounts, openDatabase } from './accounts.ts';
import { type FreezableServer, startFreezableServer } from './frozen-server.ts';
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
/** Longest that a request, or the end of a process, may take, in milliseconds. */
const LIMIT_MS = 10_000;
const SOON = { timeout: 60_000, interval: 50 };
/** What hangs does so for seconds, and on a busy machine everything around it takes as long. */
const PATIENCE = { timeout: 180_000 };

const missing = !hasEmbedded();

describe.skipIf(missing)(missing ? EMBEDDED_MISSING : 'while the database hangs', PATIENCE, () => {
  const masterKey = randomBytes(32);
  const started: ServiceProcess[] = [];
  const stalls = watchStalls();
  let server: FreezableServer;
  let proxy: TcpProxy;
  let admin: pg.Client;
  let db: Database | undefined;
  let env: Record<string, string>;
  let shop: MerchantWithKey;
  let partner: PartnerWithKey;
  let paymentId: string;
  let checkoutPath: string;

  beforeAll(async () => {
    server = await startFreezableServer();
    admin = new pg.Client({ connectionString: server.url });
    await admin.connect();
    const target = new URL(server.url);
    proxy = await startTcpProxy(target.hostname, Number(target.port));
    env = serviceEnvironment(server.url, masterKey);
    expect(await mpHere(['migrate'], env)).toMatchObject({ status: 0, err: '' });
    db = openDatabase(server.url);
    ({ partner, shop } = await openAccounts(db, masterKey));
    const api = await start();
    const { body } = await call(api, shop, { path: CREATE, body: { amount: 5000 } });
    paymentId = body.prompt.id;
    checkoutPath = new URL(body.checkoutUrl).pathname;
    await api.stop();
  });
  afterAll(async () => {
    stalls.stop();
    server.thaw();
    await Promise.all(started.map(it => it.stop('SIGKILL')));
    await proxy.cut();
    await Promise.all([db?.destroy(), admin?.end()]);
    await server.stop();
  });

  async function start(more: Record<string, string> = {}): Promise<ServiceProcess> {
    const api = await startReplica({ ...env, ...more });
    started.push(api);
    return api;
  }

  /** Requests of each kind, with what came of them: status, error code and duration. */
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

  /** Sends several of each kind at once. */
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

  /** Requests at once, and in the next seconds, as connections are given up and opened anew. */
  async function askForAWhile(api: ServiceProcess, kinds: readonly Kind[] = ALL) {
    const waves = [0, 1_000, 4_000].map(async pause => {
      await sleep(pause);
      return ask(api, kinds);
    });
    return (await Promise.all(waves)).flat();
  }

  const tooLate = (answers: readonly Answer[]) =>
    answers.filter(({ seconds }) => seconds * 1000 > LIMIT_MS);

  /** What was answered, without how often. */
  const codesOf = (answers: readonly Answer[], kinds: readonly Kind[] = ALL) => [
    ...new Set(answers.filter(({ kind }) => kinds.includes(kind)).map(({ answer }) => answer)),
  ];

  const serves = (api: ServiceProcess) =>
    vi.waitUntil(async () => {
      const answers = await ask(api, ALL, 1);
      return codesOf(answers).every(answer => [200, 201].includes(Number(answer)));
    }, SOON);

  test('a server that is frozen keeps no request longer than 10 s, and is used again', async () => {
    const api = await start();
    await serves(api);
    await server.freeze();
    const answers = await askForAWhile(api);
    server.thaw();
    expect(tooLate(answers)).toEqual([]);
    expect(codesOf(answers, ['read', 'list', 'networks', 'overview', 'report'])).toEqual(['E5002']);
    expect(codesOf(answers, ['checkout'])).toEqual([503]);
    // One that was sent may have been executed.
    expect(['E5001', 'E5002']).toEqual(expect.arrayContaining(codesOf(answers, ['create'])));
    await serves(api);
    expect(await api.stop()).toBe(0);
  });

  test('nor does a network that swallows everything; API and worker end in time', async () => {
    const url = Object.assign(new URL(server.url), { host: `127.0.0.1:${proxy.port}` }).href;
    const api = await start({ DATABASE_URL: url });
    const worker = startWorker({ ...env, DATABASE_URL: url });
    started.push(worker);
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

  test('a lock makes nobody wait longer than 10 s', async () => {
    const api = await start();
    await serves(api);
    await admin.query('begin; lock table payments, idempotency_keys in access exclusive mode');
    const answers = await askForAWhile(api, ['read', 'list', 'create', 'checkout', 'report']);
    await admin.query('rollback');
    expect(tooLate(answers)).toEqual([]);
    expect(codesOf(answers).filter(answer => [200, 201].includes(Number(answer)))).toEqual([]);
    await serves(api);
    expect(await api.stop()).toBe(0);
  });

  test('a frozen session of reports delays reports alone, and those by less than 10 s', async () => {
    const api = await start();
    await serves(api);
    await ask(api, ['overview', 'report']);
    await server.freeze('eps-reports');
    const answers = [
      // Alone, for others would wait for their connections, and fail before.
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
    expect(await api.stop()).toBe(0);
  });
});
