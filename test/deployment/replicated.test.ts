import { randomBytes, randomUUID } from 'node:crypto';
import pg from 'pg';
import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from 'vitest';
import { createKeyring } from '#crypto/keyring.ts';
import { mayLoseUnnoticed, reportUnnoticedLoss } from '#runtime/data-loss-warning.ts';
import { countAsynchronousStandbys } from '#storage/database/asynchronous-standbys.ts';
import { connect, type Database } from '#storage/database/connection.ts';
import { ping } from '#storage/database/ping.ts';
import { connectPipeline } from '#storage/database/pipeline.ts';
import { createMonitor } from '#telemetry/monitor.ts';
import { NOT_SERVING } from '#telemetry/readiness.ts';
import { mpHere } from '../cli/mp.ts';
import { addMerchant, type MerchantWithKey } from '../helpers/accounts.ts';
import { watchNetworks } from '../helpers/watch-networks.ts';
import { parseExposition, sumOf } from '../telemetry/exposition.ts';
import {
  call,
  failToStart,
  patiently,
  type ServiceProcess,
  serviceEnvironment,
  startReplica,
} from './service-process.ts';
import { EMBEDDED_MISSING, hasEmbedded, type Pair, startPair } from './standby.ts';

/** A primary with a standby that may be lost or promoted: what is returned stays true, or nothing is returned. */

const LIST = '/external/v1/payments';
const CREATE = `${LIST}/prompt`;
/** Until servers have noticed, which takes some of them seconds; each check is a request. */
const SOON = { timeout: 20_000, interval: 100 };
const UNSEEING = { username: 'unseeing', password: 'unseeing' };
const missing = !hasEmbedded();

describe.skipIf(missing)(missing ? EMBEDDED_MISSING : 'a primary and its standby', () => {
  const masterKey = randomBytes(32);
  const keyring = createKeyring([masterKey]);
  const clock = Object.assign(() => Date.now(), { now: 0 });
  let pair: Pair;
  let urls: string;
  let primary: pg.Client;
  let standby: pg.Client;
  let db: Database | undefined;
  let shop: MerchantWithKey;
  /** Refuses what could be lost. */
  let safe: ServiceProcess;
  /** Continues with one server. */
  let plain: ServiceProcess;

  const env = (durability: 'replicated' | 'server', url = urls) =>
    serviceEnvironment(url, masterKey, { DATABASE_DURABILITY: durability });

  beforeAll(async () => {
    pair = await startPair();
    const other = new URL(pair.standbyUrl);
    // The standby comes first, so that the primary has to be looked for.
    urls = pair.primaryUrl.replace('@', `@${other.host},`);
    expect(await mpHere(['migrate'], env('server'))).toMatchObject({ status: 0, err: '' });
    [primary, standby] = await Promise.all([open(pair.primaryUrl), open(pair.standbyUrl)]);
    db = connect({
      url: pair.primaryUrl,
      poolSize: 2,
      applicationName: 'test',
      onIdleError: () => undefined,
    });
    await watchNetworks(db);
    shop = await addMerchant({ db, clock, keyring });
    // The very first start writes to the database.
    plain = await startReplica(env('server'));
    safe = await startReplica(env('replicated'));
  });
  afterAll(async () => {
    pair?.thaw();
    await Promise.all([safe?.stop('SIGKILL'), plain?.stop('SIGKILL'), db?.destroy()]);
    await Promise.all([primary?.end(), standby?.end()]);
    await pair?.stop();
  });

  afterEach(() => pair.thaw());

  const create = (process: ServiceProcess) =>
    call(process, shop, { path: CREATE, body: { amount: 5000 } });
  const createdBy = (process: ServiceProcess) => async () => (await create(process)).status;
  /** Creates even if the check of durability has expired, as on a machine that stalls for a while. */
  const createSurely = (process: ServiceProcess) =>
    patiently(process, shop, { path: CREATE, body: { amount: 5000 } });

  test('writes are refused while commits wait for no standby; reads work', async () => {
    const refused = await create(safe);
    expect(refused).toMatchObject({ status: 503, body: { error: { errorCode: 'E5002' } } });
    expect(refused.body.error.message).toContain('nothing was executed');
    expect((await call(safe, shop, { path: LIST })).status).toBe(200);
    expect((await fetch(`${safe.url}/readyz`)).status).toBe(200);
    expect((await createSurely(plain)).status).toBe(201);
    const command = await mpHere(
      ['merchant', 'create', '--name', 'Lost', '--email', 'lost@example.com'],
      env('replicated'),
    );
    expect(command).toMatchObject({
      status: 1,
      err: expect.stringContaining('no synchronous standby'),
    });
    expect(safe.logs).toContainEqual(
      expect.objectContaining({ msg: 'writes are refused', level: 'error' }),
    );
  });

  test('in production a possible unnoticed loss is reported at the start, by mp doctor and by a metric', async () => {
    if (db === undefined) throw new Error('no database');
    const environment = 'production' as const;
    const settings = { environment, databaseDurability: 'server' as const, redisUrl: null };
    await primary.query(`create role unseeing login password 'unseeing'`);
    const url = Object.assign(new URL(pair.primaryUrl), UNSEEING).href;
    const service = connect({
      url,
      poolSize: 1,
      applicationName: 'test',
      onIdleError: () => undefined,
    });
    const logger = { warn: vi.fn() };
    // As the service's usual role, which may see only that there is one.
    await reportUnnoticedLoss(settings, service, logger);
    expect(logger.warn).toHaveBeenCalledExactlyOnceWith(expect.stringMatching(/asynchronous/));
    expect(await mayLoseUnnoticed(settings, db)).toBe(true);
    for (const other of [
      { environment: 'development' as const },
      { redisUrl: 'redis://cache' },
      { databaseDurability: 'replicated' as const },
    ]) {
      expect(await mayLoseUnnoticed({ ...settings, ...other }, db)).toBe(false);
    }
    const monitor = createMonitor({
      readiness: async () => NOT_SERVING,
      pools: { main: service },
      durability: null,
    });
    const shown = parseExposition(await monitor.registry.metrics());
    expect(sumOf(shown, 'eps_database_asynchronous_standbys', {})).toBe(1);
    await monitor.close();
    await service.destroy();
    const doctor = await mpHere(['doctor', shop.merchant.id], {
      NODE_ENV: 'production',
      PUBLIC_URL: 'https://pay.example.com',
      DATABASE_URL: pair.primaryUrl,
      MASTER_KEY: masterKey.toString('base64'),
    });
    expect(doctor.out).toMatch(/^advised {2}database +An asynchronous standby/m);
  });

  test('they are accepted once a standby is synchronous, and refused when it no longer confirms', async () => {
    await primary.query(`alter system set synchronous_standby_names = '*'`);
    await primary.query('select pg_reload_conf()');
    await expect.poll(createdBy(safe), SOON).toBe(201);
    expect(db && (await countAsynchronousStandbys(db))).toBe(0);
    await pair.freeze('standby');
    const reason = 'no synchronous standby confirms what the primary writes';
    // Something is written that the standby cannot confirm.
    const waits = create(safe);
    await expect
      .poll(() => safe.logs.findLast(({ msg }) => msg === 'writes are refused'), SOON)
      .toMatchObject({ reason });
    expect((await create(safe)).body).toMatchObject({ error: { errorCode: 'E5002' } });
    // Whether the standby has that one is unknown.
    expect((await waits).body).toMatchObject({ error: { errorCode: 'E5001' } });
    pair.thaw();
    await expect.poll(createdBy(safe), SOON).toBe(201);
  });

  /** Creates a payment whose commit waits for the standby, which is silent. */
  async function createSilently(process: ServiceProcess) {
    await pair.freeze('standby');
    const reference = randomUUID();
    const body = { amount: 5000, customerReferenceId: reference };
    const waits = call(process, shop, { path: CREATE, body }).catch(() => undefined);
    // Other commits of the processes wait as well.
    const waiting = `
      select pid from pg_stat_activity where wait_event = 'SyncRep' and query like '%customer_reference_id%'`;
    await expect.poll(async () => (await primary.query(waiting)).rows.length, SOON).toBe(1);
    const { rows } = await primary.query<{ pid: number }>(waiting);
    return { pid: rows[0]?.pid ?? 0, waits, read: (by: ServiceProcess) => list(by, reference) };
  }

  /** Waits until the process that checks for it has done so since a session began to wait. */
  async function untilLooked(pid: number) {
    const looked = async () => {
      const found = await primary.query(
        `
        select from pg_stat_activity where application_name = 'eps-api-durability' and state = 'idle'
          and query_start > (select query_start from pg_stat_activity where pid = $1)`,
        [pid],
      );
      return found.rows.length;
    };
    await expect.poll(looked, SOON).toBe(1);
  }

  /** Status of a list, and its number of payments. */
  async function list(process: ServiceProcess, reference: string) {
    const path = `${LIST}?customerReferenceId=${reference}`;
    const { status, body } = await call(process, shop, { path });
    return [status, body.data?.length];
  }

  test.each(['safe', 'plain'] as const)(
    'a commit of %s whose wait is cancelled can be read once a standby has it',
    async name => {
      const other = name === 'safe' ? safe : plain;
      const { pid, waits, read } = await createSilently(other);
      await untilLooked(pid);
      await primary.query('select pg_cancel_backend($1)', [pid]);
      // In the database, everybody sees it.
      await expect.poll(() => read(plain), SOON).toEqual([200, 1]);
      await waits;
      await expect.poll(() => read(safe), SOON).toEqual([503, undefined]);
      pair.thaw();
      await expect.poll(() => read(safe), SOON).toEqual([200, 1]);
      await expect.poll(createdBy(safe), SOON).toBe(201);
    },
  );

  test('after a primary crashes and restarts by itself, it is read from once a standby has everything', async () => {
    const { pid, waits, read } = await createSilently(safe);
    process.kill(pid, 'SIGKILL');
    await waits;
    await primary.end();
    primary = await openSoon(pair.primaryUrl);
    // At once, before any check of standbys.
    const seen = new Set<string>();
    for (let reads = 0; reads < 20; reads++) seen.add(String(await read(safe)));
    await expect.poll(() => read(plain), SOON).toEqual([200, 1]);
    for (let reads = 0; reads < 20; reads++) seen.add(String(await read(safe)));
    expect(seen).not.toContain('200,1');
    pair.thaw();
    await expect.poll(() => read(safe), SOON).toEqual([200, 1]);
    await expect.poll(createdBy(safe), SOON).toBe(201);
  });

  test('a running base backup does not count as a standby', async () => {
    const { rows } = await standby.query('show primary_conninfo');
    const follow = async (name: string) => {
      const conninfo = `${rows[0].primary_conninfo} application_name=${name}`;
      await standby.query(`alter system set primary_conninfo = '${conninfo}'`);
      await standby.query('select pg_reload_conf()');
    };
    await follow('pg_basebackup');
    const states = async () =>
      (await primary.query('select application_name, sync_state from pg_stat_replication')).rows;
    await expect
      .poll(states, SOON)
      .toEqual([{ application_name: 'pg_basebackup', sync_state: 'sync' }]);
    await expect.poll(createdBy(safe), SOON).toBe(503);
    await follow('standby');
    await expect.poll(createdBy(safe), SOON).toBe(201);
  });

  test('a durability that is impossible is refused at the start', async () => {
    await primary.query(`create role blind login password 'blind'`);
    await primary.query('grant all on all tables in schema public to blind');
    const blind = new URL(pair.primaryUrl);
    Object.assign(blind, { username: 'blind', password: 'blind' });
    // The worker, which starts in half the time; an API opens its storage in the same way.
    const failure = await failToStart(env('replicated', blind.href), 'src/worker.ts');
    expect(failure.last).toMatchObject({
      level: 'fatal',
      msg: expect.stringContaining('grant pg_read_all_stats to it'),
    });
    await primary.query('alter role blind set synchronous_commit = local');
    await primary.query('grant pg_read_all_stats to blind');
    const second = await failToStart(env('replicated', blind.href), 'src/worker.ts');
    expect(second.last).toMatchObject({
      msg: expect.stringContaining('synchronous_commit is local'),
    });
    const third = await failToStart(env('server', pair.standbyUrl), 'src/worker.ts');
    expect(third.last).toMatchObject({ msg: expect.stringContaining('standby') });
  });

  test('a connection to a standby is refused and not kept', async () => {
    const reads = connectPipeline({
      url: pair.standbyUrl,
      connections: 1,
      applicationName: 'stray',
      onError: () => undefined,
    });
    for (let tries = 0; tries < 3; tries++) {
      await expect(ping(reads)).rejects.toThrow('standby');
    }
    const strays = async () => {
      const { rows } = await standby.query(
        "select from pg_stat_activity where application_name = 'stray'",
      );
      return rows.length;
    };
    await expect.poll(strays, SOON).toBe(0);
    await reads.destroy();
  });

  test('processes follow a promotion, and avoid a primary that comes back', async () => {
    const before = await createSurely(safe);
    await pair.freeze('primary');
    await standby.query('select pg_promote()');
    await expect.poll(createdBy(plain), SOON).toBe(201);
    // What was confirmed is there, and what only the new primary has.
    const paths = [before, await createSurely(plain)].map(each => `${LIST}/${each.body.prompt.id}`);
    const read = (process: ServiceProcess) => async () =>
      (await Promise.all(paths.map(path => call(process, shop, { path })))).map(
        each => each.status,
      );
    await expect.poll(read(plain), SOON).toEqual([200, 200]);
    // The new primary has no standby.
    await expect.poll(read(safe), SOON).toEqual([503, 503]);
    await expect.poll(createdBy(safe), SOON).toBe(503);
    pair.thaw();
    for (let reads = 0; reads < 20; reads++) {
      expect(await read(plain)()).toEqual([200, 200]);
      expect(await read(safe)()).toEqual([503, 503]);
      expect((await createSurely(plain)).status).toBe(201);
    }
    const { rows } = await primary.query('select count(*)::int as payments from payments');
    const all = await standby.query('select count(*)::int as payments from payments');
    expect(all.rows[0].payments - rows[0].payments).toBeGreaterThanOrEqual(21);
  });
});

async function open(url: string): Promise<pg.Client> {
  const client = new pg.Client({ connectionString: url });
  client.on('error', () => undefined);
  await client.connect();
  return client;
}

/** Opens a session as soon as a starting server accepts any. */
async function openSoon(url: string): Promise<pg.Client> {
  let client: pg.Client | undefined;
  const isOpen = async () => {
    client = await open(url).catch(() => undefined);
    return client !== undefined;
  };
  await vi.waitUntil(isOpen, { timeout: SOON.timeout, interval: 2 });
  if (client === undefined) throw new Error('the server takes no session');
  return client;
}
