import { spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { sql } from 'kysely';
import { setAddress } from '#accounts/deposit-addresses.ts';
import { createKey } from '#accounts/keys/manage-keys.ts';
import { createKeyring } from '#crypto/keyring.ts';
import { createEndpoint } from '#payments/webhooks/manage-endpoints.ts';
import type { Database } from '#storage/database/connection.ts';
import { runMigrations } from '#storage/database/migrate.ts';
import { unpartitionedTables } from '#storage/database/partition-tables.ts';
import { Ledger } from '../test/deployment/cluster/ledger.ts';
import { Load, longestGap } from '../test/deployment/cluster/load.ts';
import { ADDRESSES } from '../test/helpers/accounts.ts';
import { watchNetworks } from '../test/helpers/watch-networks.ts';
import { createDatabase, startPostgres, THROW_AWAY } from './databases.ts';
import { fillEvents } from './event-history.ts';
import { type Finding, VoidRun } from './measure.ts';
import { fillHistory } from './partner-history.ts';
import { type ServiceState, serviceEnvironment, startService, startWorker } from './processes.ts';
import type { Resources } from './resources.ts';
import { AGAINST, PAYMENTS } from './settings.ts';
import { startWebhookReceiver } from './webhook-receiver.ts';

/** Creations, and as many reads, that begin in a second. */
const RATE = 50;
/** How long each state is under load, in milliseconds. */
const PHASE_MS = 8_000;
/** Longest that a creation may wait, in milliseconds. */
const WAIT_MS = 1_000;
/** The load revokes no key: its command would refuse a database that is not up to date. */
const NEVER_MS = 2 ** 31 - 1;
const ROOT = join(import.meta.dirname, '..');

/**
 * Partitions the tables of a long history while the previous release works, and lets this one take over: creations,
 * reads and webhooks go on all the time, and a ledger outside of the service holds what was answered.
 */
export async function bench(resources: Resources): Promise<Finding[]> {
  const [previous] = AGAINST;
  if (previous === undefined)
    throw new VoidRun('BENCH_AGAINST has to name a checkout of the previous release');
  const server = await startPostgres(resources, THROW_AWAY);
  const { db, url } = await createDatabase(resources, server, 'upgraded', runMigrations);
  const { shop, state, receiver } = await fill(resources, db, url);
  const before = await startService(resources, 'previous', state, { root: previous });
  await startWorker(resources, state, { root: previous });

  const ledger = new Ledger();
  const loadOn = (name: string, port: number) =>
    new Load({
      ledger,
      shop,
      rate: RATE,
      revocationMs: NEVER_MS,
      env: {},
      replicas: { [name]: { url: `http://127.0.0.1:${port}` } },
    });
  const load = loadOn('previous', before.port);
  resources.defer(() => load.abandon());
  const pause = () => sleep(PHASE_MS, undefined, { signal: resources.signal });
  await pause();
  const from = performance.now();
  const seconds = await runMigrate(state);
  const to = performance.now();
  if ((await unpartitionedTables(db)).length > 0) throw new VoidRun('nothing was partitioned');
  await pause();
  const after = await startService(resources, 'service', state);
  await startWorker(resources, state);
  const later = loadOn('service', after.port);
  resources.defer(() => later.abandon());
  await pause();
  await Promise.all([load.stop(), later.stop()]);

  const responses = [...load.responses, ...later.responses];
  const failed = responses.filter(([response]) => !['200', '201'].includes(response));
  const gap = longestGap(load.confirmed.get('previous') ?? [], from, to);
  const { lost, doubled, untold } = await judge(db, ledger, receiver.arrivals);
  const size = `${PAYMENTS} payments, mp migrate in ${seconds.toFixed(1)} s`;
  const none = (subject: string, value: number, measured = `${ledger.created.size} creations`) => ({
    subject: `migrate: ${subject}`,
    measured,
    value,
    goal: { relation: '<=' as const, value: 0 },
  });
  return [
    {
      subject: 'migrate: longest time without a creation, in milliseconds',
      measured: size,
      value: gap,
      goal: { relation: '<=', value: WAIT_MS },
    },
    none(
      'requests that failed',
      failed.reduce((sum, [, count]) => sum + count, 0),
      JSON.stringify(failed),
    ),
    none('creations lost', lost),
    none('creations doubled', doubled),
    none('events without a webhook', untold),
  ];
}

async function fill(resources: Resources, db: Database, databaseUrl: string) {
  await watchNetworks(db);
  const { merchantId } = await fillHistory(db, PAYMENTS);
  await fillEvents(db, merchantId);
  const masterKey = randomBytes(32);
  const keyring = createKeyring([masterKey]);
  const operator = { db, clock: Date.now, actor: 'bench' };
  await setAddress(operator, { merchantId }, 'btc', ADDRESSES.btc);
  const key = await createKey(operator, keyring, { owner: { merchantId }, name: 'bench' });
  const receiver = await startWebhookReceiver(resources);
  const { secret } = await createEndpoint(operator, keyring, {
    merchantId,
    url: `${receiver.url}/`,
    allowPrivateAddresses: true,
  });
  receiver.secrets.set('/', secret);
  const state = { databaseUrl, masterKey: masterKey.toString('base64') };
  return { shop: { ...key, merchant: { id: merchantId } }, state, receiver };
}

/** Runs `mp migrate` of this tree; resolves with how long it took, in seconds. */
async function runMigrate(state: ServiceState): Promise<number> {
  const startedAt = performance.now();
  const child = spawn(process.execPath, [join(ROOT, 'src/cli.ts'), 'migrate'], {
    env: { PATH: process.env.PATH, ...serviceEnvironment(state) },
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  const [status] = await once(child, 'exit');
  if (status !== 0) throw new VoidRun(`mp migrate ended with status ${status}`);
  return (performance.now() - startedAt) / 1000;
}

/** Holds what was answered against the database, and what is there against what has arrived. */
async function judge(db: Database, ledger: Ledger, arrivals: ReadonlyMap<string, number>) {
  const ids = [...ledger.created.values()];
  const { rows } = await sql<{ id: string; reference: string }>`
    select id, customer_reference_id as reference from payments
    where customer_reference_id = any(${[...ledger.asked]})`.execute(db);
  const held = new Set(rows.map(({ id }) => id));
  // The last webhooks may still be on their way.
  let untold = Number.POSITIVE_INFINITY;
  for (let tries = 0; tries < 20 && untold > 0; tries++) {
    const { rows: events } = await sql<{ id: string }>`
      select id from events where payment_id = any(${ids}::uuid[])`.execute(db);
    untold =
      events.filter(({ id }) => !arrivals.has(id)).length + Math.max(0, ids.length - events.length);
    if (untold > 0) await sleep(500);
  }
  return {
    lost: ids.filter(id => !held.has(id)).length,
    doubled: rows.length - new Set(rows.map(({ reference }) => reference)).size,
    untold,
  };
}
