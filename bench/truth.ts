import { type ChildProcess, fork, spawn } from 'node:child_process';
import { once } from 'node:events';
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { GROUP } from '../test/onchain/settlement/truth/course.ts';
import { FAULTS, type FaultKind } from '../test/onchain/settlement/truth/judge.ts';
import { CHAIN_GROUP } from '../test/onchain/watching/truth/slots.ts';
import { createDatabase, startPostgres, THROW_AWAY } from './databases.ts';
import type { Finding } from './measure.ts';
import type { Resources } from './resources.ts';
import { TRUTH_CHAINS, TRUTH_HISTORIES, TRUTH_SEED } from './settings.ts';
import type { Batch, Counts, Examined, Kind } from './truth-process.ts';

/** A process and its server connection take turns, so two pairs keep a core busy. */
const PROCESSES = 2 * availableParallelism();
const PROGRESS_MS = 30_000;
/** Failures that are printed in full. */
const SHOWN = 5;
/** No data has to outlive the run. */
const SETTINGS = { ...THROW_AWAY, synchronous_commit: 'off', autovacuum: 'off', jit: 'off' };

/** Kinds to play one after the other, and the number of seeds per group. */
const KINDS = {
  histories: { group: GROUP, count: TRUTH_HISTORIES, setting: 'TRUTH_HISTORIES' },
  chains: { group: CHAIN_GROUP, count: TRUTH_CHAINS, setting: 'TRUTH_CHAINS' },
} as const satisfies Record<Kind, object>;

/**
 * Plays random histories of payments and transfers through settlement, matching, expiry and the database, and
 * generated chains through watchers and their nodes as well, and compares the outcome of each with what is
 * true. A seed always produces the same ones.
 */
export async function bench(resources: Resources): Promise<Finding[]> {
  const server = await startPostgres(resources, SETTINGS);
  const players = await Promise.all(
    Array.from({ length: PROCESSES }, async (_, index) => {
      const { url } = await createDatabase(resources, server, `truth_${index}`);
      const { url: chains } = await createDatabase(resources, server, `truth_chains_${index}`);
      const player = fork(join(import.meta.dirname, 'truth-process.ts'), [url, chains]);
      resources.defer(() => player.kill());
      const ended = once(player, 'exit').then(() => {
        throw new Error('a process that plays histories has ended');
      });
      // Otherwise its end is an unhandled rejection once no caller waits for it.
      ended.catch(() => undefined);
      return { ask: (batch: Batch) => Promise.race([ask(player, batch), ended]) };
    }),
  );
  const findings: Finding[] = [];
  for (const kind of ['histories', 'chains'] as const) {
    if (KINDS[kind].count > 0) findings.push(...(await play(resources, players, kind)));
  }
  // A replay plays one kind only.
  const isWhole = Object.values(KINDS).every(({ count }) => count > 0);
  return isWhole ? [...findings, await playProperties(resources)] : findings;
}

/** Runs all examples of the properties of which the suite runs a third. */
async function playProperties({ defer }: Resources): Promise<Finding> {
  const properties = join(import.meta.dirname, '../test/helpers/property-runs.ts');
  const vitest = spawn('npx', ['vitest', 'related', '--run', properties], {
    env: { ...process.env, PROPERTY_RUNS: '1' },
    stdio: 'inherit',
  });
  defer(() => vitest.kill());
  const [status] = await once(vitest, 'exit');
  return {
    subject: 'exit status of the properties of the suite',
    measured: 'all their examples',
    value: status ?? 1,
    goal: { relation: '<=', value: 0 },
  };
}

interface Player {
  ask(batch: Batch): Promise<Examined>;
}

/** Plays all seeds of a kind, with all processes. */
async function play(
  { defer }: Resources,
  players: readonly Player[],
  kind: Kind,
): Promise<Finding[]> {
  const { group, count } = KINDS[kind];
  const batches = seedsByGroup(TRUTH_SEED, count, group);
  const all: Counts[] = [];
  const faults = new Map<FaultKind, number>();
  let failures = 0;
  const started = performance.now();
  const progress = setInterval(() => {
    const played = sum(all)[kind] ?? 0;
    const rate = (played / (performance.now() - started)) * 1000;
    process.stdout.write(`${played} ${kind}, ${rate.toFixed(0)} a second, ${failures} failed\n`);
  }, PROGRESS_MS);
  defer(() => clearInterval(progress));
  await Promise.all(
    players.map(async player => {
      for (let seeds = batches.shift(); seeds !== undefined; seeds = batches.shift()) {
        const found = await player.ask({ kind, seeds });
        all.push(found.counts);
        for (const failure of found.failures) {
          failures += 1;
          for (const each of new Set(failure.faults.map(fault => fault.kind))) {
            faults.set(each, (faults.get(each) ?? 0) + 1);
          }
          if (failures > SHOWN) continue;
          process.stdout.write(`${failure.text}\n${replay(kind, failure)}\n\n`);
        }
      }
    }),
  );
  clearInterval(progress);
  const { [kind]: played = 0, ...counts } = sum(all);
  print(counts);
  const seconds = (performance.now() - started) / 1000;
  return [
    {
      subject: `${kind} a second`,
      measured: `${played} ${kind} in ${seconds.toFixed(0)} s`,
      value: played / seconds,
      goal: null,
    },
    ...Object.entries(FAULTS).map(
      ([fault, subject]): Finding => ({
        subject,
        measured: `${kind} from seed ${TRUTH_SEED} on`,
        value: faults.get(fault as FaultKind) ?? 0,
        goal: { relation: '<=', value: 0 },
      }),
    ),
  ];
}

/** Seeds from `first` on, each list of one group. */
function seedsByGroup(first: number, count: number, group: number): number[][] {
  const lists: number[][] = [];
  for (let seed = first; seed < first + count; ) {
    const end = Math.min(first + count, (Math.floor(seed / group) + 1) * group);
    lists.push(Array.from({ length: end - seed }, (_, index) => seed + index));
    seed = end;
  }
  return lists;
}

async function ask(player: ChildProcess, batch: Batch): Promise<Examined> {
  player.send(batch);
  const [found] = await once(player, 'message');
  return found;
}

/** The command that plays a failure again. */
function replay(kind: Kind, { seed, isAlone }: Examined['failures'][number]): string {
  const { group } = KINDS[kind];
  const first = isAlone ? seed : Math.floor(seed / group) * group;
  const note = isAlone ? '' : ' (it goes wrong only beside the others of its group)';
  const counts = Object.entries(KINDS).map(
    ([name, { setting }]) => `${setting}=${name !== kind ? 0 : isAlone ? 1 : group}`,
  );
  return `TRUTH_SEED=${first} ${counts.join(' ')} npm run bench -- truth${note}`;
}

function sum(all: readonly Counts[]): Record<string, number> {
  const total: Record<string, number> = {};
  for (const [name, value] of all.flatMap(each => Object.entries(each))) {
    total[name] = (total[name] ?? 0) + value;
  }
  return total;
}

function print(counts: Counts): void {
  for (const [name, value] of Object.entries(counts).toSorted()) {
    process.stdout.write(`${name.padEnd(36)}${String(value).padStart(10)}\n`);
  }
}
