import { setTimeout as sleep } from 'node:timers/promises';
import { NONCE_BUCKETS, type NonceBucket } from '#signing/nonce-buckets.ts';
import type { Database } from '#storage/database/connection.ts';
import { table } from '#surfaces/docs/write-markdown.ts';
import { eventually } from '../test/helpers/eventually.ts';
import { type ClusterNode, startRedisCluster } from '../test/helpers/redis-cluster.ts';
import { startRedisWithSentinels } from '../test/helpers/redis-sentinel.ts';
import { createDatabase, startPostgres, UNDISTURBED } from './databases.ts';
import type { Finding } from './measure.ts';
import { addMerchants, type BenchMerchant } from './merchants.ts';
import { type ServiceState, startService } from './processes.ts';
import { type Ledger, startReplayedLoad } from './replayed-load.ts';
import { requireSentinel } from './required-programs.ts';
import { type Resources, withResources } from './resources.ts';

/** After how long without a response a master is replaced, in milliseconds. */
const DOWN_AFTER_MS = 1_000;
/** How long replicas are cut off from a master before it is killed, in milliseconds. */
const LAG_MS = 700;
/** Time under load before an event, and after it is over, in milliseconds. */
const CALM_MS = 2_000;
/** The most seconds without creations of a key that the loss of its server may cost. */
const REFUSED_GOAL_SECONDS = 5;

const CLUSTER_ROUNDS = [
  'kill',
  'failover',
  'reshard',
  'hang',
  'kill',
  'reshard',
  'failover',
  'hang',
  'reshard',
  'kill',
] as const;
const SENTINEL_ROUNDS = [
  'kill',
  'failover',
  'hang',
  'kill',
  'failover',
  'hang',
  'kill',
  'failover',
  'hang',
  'kill',
] as const;
type Event = (typeof CLUSTER_ROUNDS)[number];

interface Subject {
  readonly db: Database;
  readonly merchants: readonly BenchMerchant[];
  /** Ports of the API's replicas. */
  readonly ports: readonly number[];
}

/** An event that affects Redis. */
interface Happening {
  /** Buckets whose server it takes away; all of them without a cluster. */
  readonly lost: readonly number[];
  act(): Promise<void>;
  /** Restores what was lost, under load. */
  restore(): Promise<void>;
}

interface Round extends Ledger {
  readonly name: string;
  readonly lost: readonly number[];
}

/**
 * Kills, hangs and replaces masters of a cluster and of sentinels, and moves buckets, while each creation is
 * replayed.
 */
export async function bench(resources: Resources): Promise<Finding[]> {
  requireSentinel();
  const server = await startPostgres(resources, UNDISTURBED);
  const { db, url: databaseUrl } = await createDatabase(resources, server, 'redis_failover');
  const { merchants, masterKey } = await addMerchants(db);
  const state = { databaseUrl, masterKey };
  const rounds: Round[] = [];
  for (const play of [playCluster, playSentinel]) {
    await withResources(resources.signal, inner => play(inner, { db, merchants }, state, rounds));
  }
  process.stdout.write(`${toTable(rounds)}\n`);
  const total = (pick: (round: Round) => number) =>
    rounds.reduce((sum, each) => sum + pick(each), 0);
  const measured = `${rounds.length} rounds, ${total(each => each.created)} created, ${total(each => each.replays)} replays`;
  const finding = (subject: string, value: number, most: number): Finding => ({
    subject,
    measured,
    value,
    goal: { relation: '<=', value: most },
  });
  return [
    finding(
      'replays executed',
      total(each => each.executed),
      0,
    ),
    finding('creations refused of keys whose server was not lost', total(elsewhere), 0),
    finding(
      'longest without creations of a key, in seconds',
      Math.max(...rounds.map(longest)),
      REFUSED_GOAL_SECONDS,
    ),
  ];
}

type Play = (
  resources: Resources,
  subject: Omit<Subject, 'ports'>,
  state: ServiceState,
  rounds: Round[],
) => Promise<void>;

const playCluster: Play = async (resources, subject, state, rounds) => {
  const cluster = await startRedisCluster({ nodeTimeoutMs: DOWN_AFTER_MS });
  resources.defer(() => cluster.stop());
  const ports = await startReplicas(resources, { ...state, redisUrl: cluster.url });
  const ownersOf = () => Promise.all(NONCE_BUCKETS.map(bucket => cluster.masterOf(bucket)));
  for (const [index, event] of CLUSTER_ROUNDS.entries()) {
    const at = index % NONCE_BUCKETS.length;
    const bucket = NONCE_BUCKETS[at] as NonceBucket;
    const owners = await ownersOf();
    const master = await cluster.masterOf(bucket);
    const lost = owners.flatMap((owner, each) => (owner.id === master.id ? [each] : []));
    const isWhole = async () => {
      const replicas = await cluster.replicasOf(await cluster.masterOf(bucket));
      const states = await Promise.all(
        replicas.map(({ operator }) => operator.info('replication')),
      );
      return states.some(text => text.includes('master_link_status:up'));
    };
    await eventually(isWhole);
    const [replica] = await cluster.replicasOf(master);
    const other = owners.find(({ id }) => id !== master.id) ?? master;
    const happenings: Record<Event, Happening> = {
      kill: {
        lost,
        act: () => killLagging(master),
        restore: async () => void (await cluster.restart(master)),
      },
      hang: { lost, ...hang(master.server.pid) },
      failover: {
        lost,
        act: async () => void (await replica?.operator.cluster('FAILOVER')),
        restore: async () => undefined,
      },
      reshard: {
        lost: [at],
        act: () => cluster.move(bucket, other),
        restore: () => cluster.move(bucket, master),
      },
    };
    rounds.push(await playRound(`cluster, ${event}`, happenings[event], { ...subject, ports }));
    await eventually(isWhole);
  }
};

const playSentinel: Play = async (resources, subject, state, rounds) => {
  const redis = await startRedisWithSentinels({ downAfterMs: DOWN_AFTER_MS });
  resources.defer(() => redis.stop());
  const ports = await startReplicas(resources, { ...state, redisUrl: redis.url });
  const lost = NONCE_BUCKETS.map((_, index) => index);
  for (const event of SENTINEL_ROUNDS) {
    await eventually(() => redis.isWhole());
    const master = await redis.master();
    const happenings: Record<(typeof SENTINEL_ROUNDS)[number], Happening> = {
      kill: {
        lost,
        act: () => master.server.stop(),
        restore: async () => void (await redis.restart(master)),
      },
      hang: { lost, ...hang(master.server.pid) },
      failover: { lost, act: () => redis.failover(), restore: async () => undefined },
    };
    rounds.push(await playRound(`Sentinel, ${event}`, happenings[event], { ...subject, ports }));
  }
};

/** Kills a master whose replicas have not received its last nonces. */
async function killLagging({ server, operator }: ClusterNode) {
  const killAt = performance.now() + LAG_MS;
  while (performance.now() < killAt) {
    await operator.call('CLIENT', 'KILL', 'TYPE', 'replica');
    await sleep(10);
  }
  await server.stop();
}

function hang(pid: number): Pick<Happening, 'act' | 'restore'> {
  const signal = (name: NodeJS.Signals) => async () => void process.kill(pid, name);
  return { act: signal('SIGSTOP'), restore: signal('SIGCONT') };
}

async function startReplicas(resources: Resources, state: ServiceState): Promise<number[]> {
  const services = ['first', 'second'].map(name => startService(resources, name, state));
  return (await Promise.all(services)).map(({ port }) => port);
}

async function playRound(
  name: string,
  { lost, act, restore }: Happening,
  { ports, merchants, db }: Subject,
): Promise<Round> {
  const load = startReplayedLoad(ports, merchants, db);
  await sleep(CALM_MS);
  await act();
  await load.recovered();
  await restore();
  await sleep(CALM_MS);
  const round = { name, lost, ...(await load.end()) };
  process.stdout.write(`  ${name}: refused for ${longest(round).toFixed(1)} s\n`);
  return round;
}

function longest({ refusedFor }: Ledger): number {
  return Math.max(0, ...refusedFor.values());
}

/** Buckets in which creations were refused although their server was available. */
function elsewhere({ lost, refusedFor }: Round): number {
  return [...refusedFor.keys()].filter(bucket => !lost.includes(bucket)).length;
}

function toTable(rounds: readonly Round[]): string {
  return table(
    [
      'round',
      'buckets lost',
      'created',
      'refused',
      'refused elsewhere',
      'refused for',
      'replays',
      'executed',
    ],
    rounds.map(each => [
      ...[each.name, each.lost.length, each.created, each.refused, elsewhere(each)],
      ...[`${longest(each).toFixed(1)} s`, each.replays, each.executed],
    ]),
  );
}
