import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { GROUP } from '../settlement/truth/course.ts';
import { groupOf, sumTallies, type Tally } from '../settlement/truth/examine.ts';
import { FAULTS, type FaultKind } from '../settlement/truth/judge.ts';
import { createDatabase, startPostgres, THROW_AWAY } from './databases.ts';
import type { Finding } from './measure.ts';
import type { Resources } from './resources.ts';
import { TRUTH_HISTORIES, TRUTH_SEED } from './settings.ts';
import type { Examined } from './truth-process.ts';

/** A process and its server connection take turns, so that two pairs keep a core busy. */
const PROCESSES = 2 * availableParallelism();
const PROGRESS_MS = 30_000;
/** Failures that are printed in full. */
const SHOWN = 5;
/** Nothing of it has to outlive the run. */
const SETTINGS = { ...THROW_AWAY, synchronous_commit: 'off', autovacuum: 'off', jit: 'off' };

/**
 * Plays random histories of payments and transfers through settlement, matching, expiry and the database,
 * and holds what became of each against a ledger in memory. Exactly the same histories come of a seed.
 */
export async function bench(resources: Resources): Promise<Finding[]> {
  const server = await startPostgres(resources, SETTINGS);
  const batches = seedsByGroup(TRUTH_SEED, TRUTH_HISTORIES);
  const tallies: Tally[] = [];
  const faults = new Map<FaultKind, number>();
  let failures = 0;
  const started = performance.now();
  const progress = setInterval(() => {
    const { histories } = sumTallies(tallies);
    const rate = (histories / (performance.now() - started)) * 1000;
    process.stdout.write(
      `${histories} histories, ${rate.toFixed(0)} a second, ${failures} failed\n`,
    );
  }, PROGRESS_MS);
  resources.defer(() => clearInterval(progress));
  const processes = Math.min(PROCESSES, batches.length);
  await Promise.all(
    Array.from({ length: processes }, async (_, index) => {
      const { url } = await createDatabase(resources, server, `truth_${index}`);
      const player = fork(join(import.meta.dirname, 'truth-process.ts'), [url]);
      resources.defer(() => player.kill());
      const ended = once(player, 'exit').then(() => {
        throw new Error('a process that plays histories has ended');
      });
      // Otherwise its end is an unhandled rejection where nobody asks it any more.
      ended.catch(() => undefined);
      for (let seeds = batches.shift(); seeds !== undefined; seeds = batches.shift()) {
        const found = await Promise.race([ask(player, seeds), ended]);
        tallies.push(found.tally);
        for (const failure of found.failures) {
          failures += 1;
          for (const kind of new Set(failure.faults.map(fault => fault.kind))) {
            faults.set(kind, (faults.get(kind) ?? 0) + 1);
          }
          if (failures <= SHOWN) process.stdout.write(`${failure.text}\n${replay(failure)}\n\n`);
        }
      }
      player.disconnect();
    }),
  );
  clearInterval(progress);
  const total = sumTallies(tallies);
  print(total);
  const seconds = (performance.now() - started) / 1000;
  return [
    {
      subject: 'histories a second',
      measured: `${total.histories} histories of ${total.payments} payments in ${seconds.toFixed(0)} s`,
      value: total.histories / seconds,
      goal: null,
    },
    ...Object.entries(FAULTS).map(
      ([kind, subject]): Finding => ({
        subject,
        measured: `histories from seed ${TRUTH_SEED} on`,
        value: faults.get(kind as FaultKind) ?? 0,
        goal: { relation: '<=', value: 0 },
      }),
    ),
  ];
}

/** Seeds from `first` on, each list of one group. */
function seedsByGroup(first: number, count: number): number[][] {
  const lists: number[][] = [];
  for (let seed = first; seed < first + count; ) {
    const end = Math.min(first + count, (groupOf(seed) + 1) * GROUP);
    lists.push(Array.from({ length: end - seed }, (_, index) => seed + index));
    seed = end;
  }
  return lists;
}

async function ask(player: ChildProcess, seeds: readonly number[]): Promise<Examined> {
  player.send(seeds);
  const [found] = await once(player, 'message');
  return found;
}

/** The command that plays it again. */
function replay({ seed, isAlone }: Examined['failures'][number]): string {
  const first = isAlone ? seed : groupOf(seed) * GROUP;
  const count = isAlone ? 1 : GROUP;
  const note = isAlone ? '' : ' (it goes wrong only beside the others of its group)';
  return `TRUTH_SEED=${first} TRUTH_HISTORIES=${count} npm run bench -- truth${note}`;
}

function print({ transfers, statuses }: Tally): void {
  const lines = [
    ...Object.entries(statuses).map(([name, value]) => [`payments ${name}`, value] as const),
    ...Object.entries(transfers).map(([name, value]) => [`transfers ${name}`, value] as const),
  ];
  const recorded = Object.values(transfers).reduce((sum, value) => sum + value, 0);
  for (const [name, value] of [...lines.toSorted(), ['transfers recorded', recorded] as const]) {
    process.stdout.write(`${name.padEnd(36)}${String(value).padStart(10)}\n`);
  }
}
