import { GROUP } from './course.ts';
import { describeHistory } from './describe.ts';
import { drawHistory } from './history.ts';
import { type Fault, judge } from './judge.ts';
import { playGroup } from './play.ts';
import { type Rows, readRows } from './rows.ts';
import type { Stage } from './stage.ts';
import { listWalletUses } from './wallet-tally.ts';

/** Counts over histories. */
interface Tally {
  readonly histories: number;
  readonly payments: number;
  /** Transfers by outcome, as in `final exact, credited`. */
  readonly transfers: Readonly<Record<string, number>>;
  /** Payments by status. */
  readonly statuses: Readonly<Record<string, number>>;
  /** What happened at wallets. */
  readonly wallets: Readonly<Record<string, number>>;
}

/** A history that has gone wrong. */
interface Failure {
  readonly seed: number;
  readonly faults: readonly Fault[];
  /** What happened, for humans. */
  readonly text: string;
}

/**
 * Plays the histories of these seeds, all of one group, and judges them.
 * @throws RangeError for seeds of several groups.
 */
export async function examine(
  stage: Stage,
  seeds: readonly number[],
): Promise<{ readonly tally: Tally; readonly failures: readonly Failure[] }> {
  if (new Set(seeds.map(groupOf)).size > 1) throw new RangeError('seeds of several groups');
  const played = await playGroup(stage, seeds.map(drawHistory));
  const failures: Failure[] = [];
  const left: Rows[] = [];
  const uses: string[] = [];
  for (const [each, rows] of await readRows(stage, played)) {
    const faults = judge(each, rows);
    left.push(rows);
    uses.push(...listWalletUses(each.history, rows));
    if (faults.length === 0) continue;
    const text = describeHistory(each, rows, faults);
    failures.push({ seed: each.history.seed, faults, text });
  }
  return { tally: { ...count(left), wallets: countBy(uses) }, failures };
}

/** Histories of one group are played together. */
function groupOf(seed: number): number {
  return Math.floor(seed / GROUP);
}

function countBy(names: readonly string[]): Record<string, number> {
  return Object.fromEntries(
    [...Map.groupBy(names, name => name)].map(([name, { length }]) => [name, length]),
  );
}

function count(left: readonly Rows[]): Omit<Tally, 'wallets'> {
  return {
    histories: left.length,
    payments: left.reduce((total, { payments }) => total + payments.length, 0),
    transfers: countBy(
      left.flatMap(({ deposits }) =>
        deposits.map(({ state, outcome, payment_id: paymentId }) => {
          const isInbox = state === 'seen' || state === 'final';
          const where = paymentId !== null ? 'credited' : isInbox ? 'inbox' : 'no funds';
          return `${where}: ${outcome}`;
        }),
      ),
    ),
    statuses: countBy(left.flatMap(({ payments }) => payments.map(({ status }) => status))),
  };
}
