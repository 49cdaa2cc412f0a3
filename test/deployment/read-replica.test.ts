import { randomBytes } from 'node:crypto';
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { createKeyring } from '#crypto/keyring.ts';
import { signCommission } from '#reports/partners/commission-file.ts';
import { connect, type Database } from '#storage/database/connection.ts';
import { closingOf } from '#time/months.ts';
import { mpHere } from '../cli/mp.ts';
import type { MerchantWithKey, PartnerWithKey } from '../helpers/accounts.ts';
import { freePort } from '../helpers/redis-server.ts';
import { SOON } from '../helpers/soon.ts';
import { openAccounts, openDatabase } from './accounts.ts';
import {
  call,
  complaints,
  type ServiceProcess,
  serviceEnvironment,
  startReplica,
} from './service-process.ts';
import { EMBEDDED_MISSING, hasEmbedded, type Pair, startPair } from './standby.ts';

/** Partner reports that are read from a streaming replica. */

const CREATE = '/external/v1/payments/prompt';
const OVERVIEW = '/external/partner/overview';
const REPORT = '/external/partner/payments';

const DAY_MS = 24 * 60 * 60_000;

const missing = !hasEmbedded();

describe.skipIf(missing)(missing ? EMBEDDED_MISSING : 'reports from a streaming replica', () => {
  const masterKey = randomBytes(32);
  let pair: Pair;
  let db: Database | undefined;
  let reports: Database | undefined;
  let primary: pg.Client;
  let standby: pg.Client;
  let api: ServiceProcess | undefined;
  let metricsPort: number;
  let partner: PartnerWithKey;
  let shop: MerchantWithKey;

  beforeAll(async () => {
    pair = await startPair();
    metricsPort = await freePort();
    const env = serviceEnvironment(pair.primaryUrl, masterKey, {
      DATABASE_REPORTS_URL: pair.standbyUrl,
      METRICS_PORT: String(metricsPort),
    });
    expect(await mpHere(['migrate'], env)).toMatchObject({ status: 0, err: '' });
    [primary, standby] = await Promise.all([open(pair.primaryUrl), open(pair.standbyUrl)]);
    db = openDatabase(pair.primaryUrl);
    reports = connect({
      url: pair.standbyUrl,
      poolSize: 1,
      applicationName: 'test',
      mayBeStandby: true,
      onIdleError: () => undefined,
    });
    ({ partner, shop } = await openAccounts(db, masterKey));
    api = await startReplica(env);
  });
  afterAll(async () => {
    await api?.stop('SIGKILL');
    await Promise.all([primary?.end(), standby?.end(), db?.destroy(), reports?.destroy()]);
    await pair?.stop();
  });

  async function ask(path: string, as: MerchantWithKey | PartnerWithKey = partner, body?: unknown) {
    if (api === undefined) throw new Error('the API has not started');
    return call(api, as, { path, body });
  }

  /** Number of payments by the overview, and by the list. */
  async function reported(): Promise<[number, number]> {
    const [overview, list] = [await ask(OVERVIEW), await ask(REPORT)];
    return [overview.body.metrics.totalPayments, list.body.total];
  }

  /** The lag of reports by the metrics, in seconds. */
  async function lag(): Promise<number | undefined> {
    const response = await fetch(`http://127.0.0.1:${metricsPort}/metrics`);
    const [, seconds] =
      /^eps_database_reports_lag_seconds (\S+)$/m.exec(await response.text()) ?? [];
    return seconds === undefined ? undefined : Number(seconds);
  }

  /** Signs the commission of a month this long after it was closed, in milliseconds. */
  async function signAtClosing(later: number) {
    if (db === undefined || reports === undefined) throw new Error('nothing is open');
    const clock = () => closingOf('2026-03').getTime() + later;
    const deps = { db, reports, keyring: createKeyring([masterKey]), clock };
    return signCommission({ ...deps, publicUrl: '' }, partner.partner.id, '2026-03');
  }

  async function create(): Promise<string> {
    const { status, body } = await ask(CREATE, shop, { amount: 5000 });
    expect(status).toBe(201);
    return body.prompt.id;
  }

  test('show a payment when it has been replayed, while the merchant sees it at once', async () => {
    await create();
    await vi.waitUntil(async () => (await reported())[0] === 1, SOON);
    await standby.query('select pg_wal_replay_pause()');
    await vi.waitUntil(async () => {
      const { rows } = await standby.query('select pg_get_wal_replay_pause_state() as state');
      return rows[0].state === 'paused';
    }, SOON);

    const id = await create();
    expect((await ask(`/external/v1/payments/${id}`, shop)).status).toBe(200);
    expect((await ask('/external/v1/payments', shop)).body.data).toHaveLength(2);
    expect(await reported()).toEqual([1, 1]);
    expect((await ask(`${REPORT}/${id}`)).body.error.errorCode).toBe('E3001');
    await vi.waitUntil(async () => Number(await lag()) > 0, SOON);
    // A file of a month that was just closed would lack what is not replayed yet; one of an older month lacks
    // nothing.
    await expect(signAtClosing(0)).rejects.toThrow('is behind');
    await signAtClosing(DAY_MS);

    await standby.query('select pg_wal_replay_resume()');
    await vi.waitUntil(async () => (await reported())[0] === 2, SOON);
    expect(await reported()).toEqual([2, 2]);
    expect((await ask(`${REPORT}/${id}`)).status).toBe(200);
    await vi.waitUntil(async () => (await lag()) === 0, SOON);
    await signAtClosing(0);
    expect(complaints(api === undefined ? [] : [api])).toEqual([]);
  });

  test('are refused as unavailable when they conflict with the replay', async () => {
    // A query that conflicts with the replay ends at once, instead of after the default of 30 seconds. Set only here:
    // it also ends anything that conflicts with the migrations.
    await standby.query('alter system set max_standby_streaming_delay = 0');
    await standby.query('select pg_reload_conf()');
    const locker = await open(pair.primaryUrl);
    // A report reads the totals, then the deltas. Here it waits for the deltas while it holds the totals, which the
    // primary does not see, so replaying the second lock ends it.
    await locker.query('begin; lock table partner_deltas in access exclusive mode');
    await flush();
    await vi.waitUntil(async () => (await locks('partner_deltas')) === 1, SOON);
    const report = ask(OVERVIEW);
    await vi.waitUntil(async () => {
      const { rows } = await standby.query(
        "select from pg_stat_activity where application_name = 'eps-reports' and wait_event_type = 'Lock'",
      );
      return rows.length > 0;
    }, SOON);
    await locker.query('lock table partner_totals in access exclusive mode');
    await flush();
    const refused = await report;
    expect(refused).toMatchObject({ status: 503, body: { error: { errorCode: 'E5002' } } });
    const isConflict = (line: object) => JSON.stringify(line).includes('conflict with recovery');
    await vi.waitUntil(() => api?.logs.some(isConflict), SOON);
    await locker.query('rollback');
    await locker.end();
    await vi.waitUntil(async () => (await ask(OVERVIEW)).status === 200, SOON);
  });

  test('are refused as unavailable while it is down, and nothing else is', async () => {
    await standby.end();
    await pair.stopStandby();
    expect((await ask(OVERVIEW)).body.error.errorCode).toBe('E5002');
    const id = await create();
    expect((await ask(`/external/v1/payments/${id}`, shop)).status).toBe(200);
    await vi.waitUntil(async () => (await lag()) === undefined, SOON);
  });

  /** Sends the standby WAL that is not committed yet. */
  async function flush(): Promise<void> {
    await primary.query('select pg_logical_emit_message(true, $1, $1)', ['test']);
  }

  async function locks(table: string): Promise<number> {
    const { rows } = await standby.query(
      `select from pg_locks where relation = $1::regclass and mode = 'AccessExclusiveLock' and granted`,
      [table],
    );
    return rows.length;
  }

  async function open(url: string): Promise<pg.Client> {
    const client = new pg.Client({ connectionString: url });
    client.on('error', () => undefined);
    await client.connect();
    return client;
  }
});
