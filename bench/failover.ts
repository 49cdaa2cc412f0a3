import { setTimeout as sleep } from 'node:timers/promises';
import { Cluster } from '../test/deployment/cluster/cluster.ts';
import { type Deployed, deployOn } from '../test/deployment/cluster/deployed.ts';
import { FAULTS, type FaultKind } from '../test/deployment/cluster/ledger.ts';
import { longestGap } from '../test/deployment/cluster/load.ts';
import { startAnvil } from '../test/helpers/anvil.ts';
import { createEvm } from '../test/helpers/evm.ts';
import { type Fault, faults } from './failover-faults.ts';
import { Transfers, watchChain } from './failover-transfers.ts';
import { type Finding, median, VoidRun } from './measure.ts';
import { requireCluster } from './required-programs.ts';
import type { Resources } from './resources.ts';
import { FAILOVER_ROUNDS } from './settings.ts';

/** Creations, and as many reads, that start per second on each of two replicas. */
const RATE = 5;
const REVOCATION_MS = 2_000;
/** How long the load runs without faults before a fault, and after it, in milliseconds. */
const CALM_MS = 3_000;
/**
 * The longest outage of writes before the run is void, and the longest that events and finality may take, in
 * milliseconds.
 */
const PATIENCE_MS = 120_000;
const POLL_MS = 100;
/** The longest permitted outage of writes, in seconds: the kit's `ttl` and ten more. */
const GOAL_SECONDS = 30;

type Way = keyof Deployed['replicas'];

interface Round {
  readonly fault: Fault;
  /** Longest time without a creation, by how its replica finds the primary, in seconds. */
  readonly writes: Readonly<Record<Way, number>>;
  /** The same for reads. */
  readonly reads: Readonly<Record<Way, number>>;
  readonly responses: ReadonlyMap<string, number>;
}

/**
 * Makes parts of a cluster of three fail one after the other under a steady load, and checks that what the service
 * has responded still holds.
 */
export async function bench(resources: Resources): Promise<Finding[]> {
  requireCluster();
  const anvil = await startAnvil();
  resources.defer(() => anvil.stop());
  const evm = createEvm(anvil);
  await evm.mine(64);
  const cluster = await Cluster.start({ members: 3, coordinators: 3 });
  resources.defer(() => cluster.stop());
  const deployed = await deployOn(cluster, {
    rate: RATE,
    revocationMs: REVOCATION_MS,
    environment: { SIMULATION: 'on' },
    prepare: accounts => watchChain(accounts, anvil.url),
  });
  resources.defer(() => deployed.stop());
  const { load, ledger, processes } = deployed;
  const transfers = new Transfers(evm, deployed);
  resources.defer(() => transfers.abandon());
  const rounds: Round[] = [];
  process.stdout.write(
    'seconds without writes, and without reads, by HAProxy and by several servers; responses\n',
  );
  const kinds = faults();
  for (let index = 0; index < FAILOVER_ROUNDS; index++) {
    resources.signal.throwIfAborted();
    const kind = kinds[index % kinds.length];
    if (kind === undefined) break;
    const round = await play(cluster, deployed, kind);
    rounds.push(round);
    print(index + 1, round);
  }
  await load.stop();
  await transfers.stop();
  // Finality takes some more blocks.
  await evm.mine(64);
  await until('every event', () => ledger.isTold()).catch(() => undefined);
  const session = await cluster.openSession('eps');
  const counts = await ledger.judge(session, true);
  await session.end();
  const statuses = await Promise.all(processes.map(it => it.stop()));
  const sizes =
    `${ledger.created.size} payments created, ${ledger.paid.size} paid, ` +
    `${ledger.revoked.size} keys revoked, ${rounds.length} rounds`;
  return [
    ...(Object.keys(FAULTS) as FaultKind[]).map(each => none(FAULTS[each], sizes, counts[each])),
    none('processes restarted', sizes, statuses.filter(status => status !== 0).length),
    withoutWrites('HAProxy', rounds),
    withoutWrites('servers', rounds),
  ];
}

async function play(cluster: Cluster, { load, ledger }: Deployed, fault: Fault): Promise<Round> {
  await sleep(CALM_MS);
  const before = new Map(load.responses);
  const from = performance.now();
  await fault.strike(cluster);
  const struck = performance.now();
  await until('writes', () =>
    [...load.confirmed.values()].every(moments => (moments.at(-1) ?? 0) > struck),
  );
  await fault.mend(cluster);
  if (fault.isWholeAfter) await cluster.until('its whole', () => cluster.isWhole());
  await sleep(CALM_MS);
  const to = performance.now();
  const session = await cluster.openSession('eps');
  const counts = await ledger.judge(session, false);
  await session.end();
  for (const [kind, count] of Object.entries(counts)) {
    if (count > 0) process.stdout.write(`${fault.name}: ${count} ${FAULTS[kind as FaultKind]}\n`);
  }
  const gaps = (moments: ReadonlyMap<string, readonly number[]>) => {
    const gap = (way: Way) => longestGap(moments.get(way) ?? [], from, to) / 1_000;
    return { HAProxy: gap('HAProxy'), servers: gap('servers') };
  };
  const responses = [...load.responses]
    .map(([response, count]) => [response, count - (before.get(response) ?? 0)] as const)
    .filter(([, count]) => count > 0);
  return {
    fault,
    writes: gaps(load.confirmed),
    reads: gaps(load.answered),
    responses: new Map(responses.toSorted()),
  };
}

async function until(what: string, isThere: () => boolean): Promise<void> {
  const giveUpAt = Date.now() + PATIENCE_MS;
  while (!isThere()) {
    if (Date.now() > giveUpAt) throw new VoidRun(`${what} did not come`);
    await sleep(POLL_MS);
  }
}

function print(number: number, { fault, writes, reads, responses }: Round): void {
  const seconds = (gaps: Round['writes']) =>
    [gaps.HAProxy, gaps.servers].map(gap => gap.toFixed(1).padStart(4)).join(' ');
  const counts = [...responses].map(([name, count]) => `${name} ${count}`).join(', ');
  process.stdout.write(
    `${String(number).padStart(2)}  ${fault.name.padEnd(34)}  ${seconds(writes)}  ${seconds(reads)}  ${counts}\n`,
  );
}

function none(subject: string, measured: string, value: number): Finding {
  return { subject, measured, value, goal: { relation: '<=', value: 0 } };
}

/** How long writes failed by one way to the primary, without the duration of the faults themselves. */
function withoutWrites(way: Way, rounds: readonly Round[]): Finding {
  const waits = rounds.map(({ fault, writes }) => writes[way] - fault.lastsMs / 1_000);
  const kinds = Map.groupBy(rounds, ({ fault }) => fault.name);
  const each = [...kinds].map(([name, some]) => {
    const [writes, reads] = [some.map(it => it.writes[way]), some.map(it => it.reads[way])];
    const [write, read] = [writes, reads].map(
      gaps => `${median(gaps).toFixed(1)}, worst ${Math.max(...gaps).toFixed(1)}`,
    );
    return `${name}: ${write} (reads ${read})`;
  });
  process.stdout.write(`without writes by ${way}, median:\n${each.join('\n')}\n`);
  return {
    subject: `seconds without writes by ${way}, worst`,
    measured: `median ${median(waits).toFixed(1)}`,
    value: Math.max(...waits),
    goal: { relation: '<=', value: GOAL_SECONDS },
  };
}
