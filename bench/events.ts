import { sql } from 'kysely';
import { createKeyring } from '#crypto/keyring.ts';
import { createEndpoint } from '#payments/webhooks/manage-endpoints.ts';
import type { Database } from '#storage/database/connection.ts';
import { createDatabase, DURABLE, startPostgres } from './databases.ts';
import { runLoad } from './load.ts';
import { type Finding, median, percentile, VoidRun } from './measure.ts';
import { addMerchants } from './merchants.ts';
import { type ServiceState, startRedis, startService, startWorker } from './processes.ts';
import { requirePrograms } from './required-programs.ts';
import { type Resources, withResources } from './resources.ts';
import { creates } from './traffic.ts';
import { startWebhookReceiver, type WebhookReceiver } from './webhook-receiver.ts';

/** Payments a second while the latency of webhooks is measured, and for how long, in seconds. */
const RATE = 100;
const RATE_SECONDS = 20;
/**
 * How long payments are created before that, in seconds: the worker warms up, and expires the history's
 * overdue payments.
 */
const WARM_UP_SECONDS = 5;
/** Payments a second that are created while no worker runs, and for how long, in seconds. */
const BACKLOG_RATE = 1_000;
const BACKLOG_SECONDS = 10;
/** Connections that create payments: each sends its first request at once, which the rate does not count. */
const CONNECTIONS = 16;
/** Signed requests, as a multiple of those needed at the planned rate. */
const SPARE = 1.1;

interface Subject {
  readonly db: Database;
  readonly state: ServiceState;
  readonly receiver: WebhookReceiver;
  /** Creates payments through the API at a rate. */
  create(rate: number, seconds: number): Promise<void>;
}

/** Measures webhooks for payments that are created through the API, with one endpoint per merchant. */
export async function bench(resources: Resources): Promise<Finding[]> {
  requirePrograms();
  const redisUrl = await startRedis(resources);
  const server = await startPostgres(resources, { ...DURABLE, track_commit_timestamp: 'on' });
  const { db, url: databaseUrl } = await createDatabase(resources, server, 'events');
  const { merchants, masterKey } = await addMerchants(db);
  const state = { databaseUrl, masterKey, redisUrl };
  const receiver = await startWebhookReceiver(resources);
  const operator = { db, clock: Date.now, actor: 'bench' };
  const keyring = createKeyring([Buffer.from(masterKey, 'base64')]);
  for (const { id } of merchants) {
    const { secret } = await createEndpoint(operator, keyring, {
      merchantId: id,
      url: `${receiver.url}/${id}`,
      allowPrivateAddresses: true,
    });
    receiver.secrets.set(`/${id}`, secret);
  }
  const { port } = await startService(resources, 'service', state);
  const traffic = creates(merchants);
  const subject: Subject = {
    db,
    state,
    receiver,
    async create(rate, seconds) {
      const supply = rate * seconds * SPARE + CONNECTIONS;
      const load = { port, traffic, connections: CONNECTIONS, rate, seconds, supply };
      await runLoad(load, resources);
    },
  };
  const findings = [
    ...(await measureLatency(resources, subject)),
    await measureBacklog(resources, subject),
  ];
  const [wrong] = receiver.wrong;
  if (wrong !== undefined) throw new VoidRun(`a webhook was not genuine: ${wrong}`);
  return findings;
}

/** Time from the commit of an event to its webhook's arrival. */
function measureLatency(
  { signal }: Resources,
  { db, state, receiver, create }: Subject,
): Promise<Finding[]> {
  return withResources(signal, async resources => {
    await startWorker(resources, state);
    await create(RATE, WARM_UP_SECONDS);
    const earlier = await readCommits(db);
    await receiver.received(earlier.size);
    await create(RATE, RATE_SECONDS);
    const all = await readCommits(db);
    await receiver.received(all.size);
    const commits = [...all].filter(([id]) => !earlier.has(id));
    const latencies = commits.map(([id, committed]) => {
      const arrived = receiver.arrivals.get(id);
      if (arrived === undefined) throw new VoidRun(`the webhook of event ${id} never arrived`);
      return arrived - committed;
    });
    const measured = `${latencies.length} webhooks, slowest ${Math.max(...latencies).toFixed(0)} ms`;
    const finding = (name: string, ms: number, goal: number): Finding => ({
      subject: `${name} from commit to webhook at ${RATE} payments a second, in seconds`,
      measured,
      value: ms / 1000,
      goal: { relation: '<=', value: goal },
    });
    return [finding('p50', median(latencies), 0.1), finding('p99', percentile(latencies, 0.99), 1)];
  });
}

/** Deliveries a second of a worker that starts with a backlog. */
function measureBacklog(
  { signal }: Resources,
  { db, state, receiver, create }: Subject,
): Promise<Finding> {
  return withResources(signal, async resources => {
    await create(BACKLOG_RATE, BACKLOG_SECONDS);
    const { size: events } = await readCommits(db);
    const backlog = events - receiver.arrivals.size;
    await startWorker(resources, state);
    await receiver.received(events);
    if (receiver.arrivals.size < events) {
      throw new VoidRun(`${events - receiver.arrivals.size} webhooks never arrived`);
    }
    const arrived = [...receiver.arrivals.values()].slice(-backlog);
    const seconds = ((arrived.at(-1) ?? Number.NaN) - (arrived[0] ?? Number.NaN)) / 1000;
    return {
      subject: 'deliveries a second of one worker',
      measured: `${backlog} webhooks in ${seconds.toFixed(1)} s`,
      value: backlog / seconds,
      goal: { relation: '>=', value: 500 },
    };
  });
}

/** When each event was committed, by ID, in milliseconds since the epoch. */
async function readCommits(db: Database): Promise<Map<string, number>> {
  const { rows } = await sql<{ id: string; committed: number }>`
    select id, extract(epoch from pg_xact_commit_timestamp(xmin))::float8 * 1000 as committed
    from events`.execute(db);
  return new Map(rows.map(({ id, committed }) => [id, committed]));
}
