import { sql } from 'kysely';
import { expirePayments } from '#onchain/settlement/expire-on-chain.ts';
import { lapseQuotes } from '#onchain/settlement/lapse-quotes.ts';
import { observeAll } from '#onchain/settlement/observe-all.ts';
import { observeTransfer } from '#onchain/settlement/observe-transfer.ts';
import type { ObservedTransfer } from '#onchain/settlement/observed-transfer.ts';
import { cancelDeactivated } from '#payments/cancel-deactivated.ts';
import type { Database } from '#storage/database/connection.ts';
import { lockAddresses } from '#storage/repositories/deposits/deposits.ts';
import {
  CHAINS,
  courseOf,
  GROUP,
  type NetworkId,
  SIMULATED,
  type Step,
  type Sweep,
} from './course.ts';
import { Dead, mortal } from './death.ts';
import type { History, Report, Turn } from './history.ts';
import { LaneSpoilt } from './lane.ts';
import { newPayments, perform, type Scene } from './people.ts';
import { type Played, payeeOf, permutations, type Taken } from './played.ts';
import { type Rests, reportOf, resolve } from './send.ts';
import type { Stage } from './stage.ts';
import { reportTogether } from './watch.ts';

/**
 * Plays histories of one group side by side to their end, all of them or some. Those that are not rough share
 * the transactions of a lane, unless `apart`.
 */
export async function playGroup(
  stage: Stage,
  histories: readonly History[],
  apart = false,
): Promise<Played[]> {
  await stage.prepare(histories);
  const course = courseOf(histories[0]?.seed ?? 0);
  const played = histories.map((history, index): Played => {
    const second = history.hasTwoBranches ? 2 * GROUP : GROUP;
    const [own, other] = [stage.branches[index], stage.branches[second + index]];
    if (own === undefined || other === undefined) {
      throw new RangeError('more histories than a group has');
    }
    return {
      history,
      merchants: [own, other],
      payments: [],
      quotes: new Map(),
      sent: [],
      taken: [],
      errors: [],
    };
  });
  const smooth = played.filter(({ history }) => !apart && !history.isRough);
  const rough = played.filter(each => !smooth.includes(each));
  try {
    for (const [index, step] of course.entries()) {
      await stage.watch(step, 'before');
      const rests = await readRests(stage, played, index);
      const opened = played.flatMap(each =>
        newPayments(each, each.history.turns[index]?.acts ?? []),
      );
      if (opened.length > 0) await stage.db.insertInto('payments').values(opened).execute();
      const scene = (db: Database): Scene => ({
        db,
        watchedUntil: network => step.watched[CHAINS[network].chain].before,
      });
      const context = { step, index, rests };
      await all([
        takeSmoothly(stage, smooth, scene(stage.lane.db), context),
        takeRoughly(rough, scene(stage.db), context),
      ]);
      await stage.watch(step, 'until');
      for (const sweep of step.sweeps) {
        await run(stage.db, sweep, step);
        for (const each of played) each.taken.push([[repeatSweep(sweep, step, each)]]);
      }
    }
  } catch (error) {
    if (error instanceof LaneSpoilt) return playGroup(stage, histories, true);
    throw error;
  }
  return played;
}

interface Context {
  readonly step: Step;
  readonly index: number;
  readonly rests: Rests;
}

/** The rests of payments whose customers pay them at this step. */
async function readRests({ db }: Stage, played: readonly Played[], index: number): Promise<Rests> {
  const isWanted = played.some(({ history, sent }) =>
    history.turns[index]?.reports.some(({ transfer }) => {
      const amount = history.transfers[transfer]?.amount;
      return sent[transfer] === undefined && (amount === 'rest' || amount === 'rest cut');
    }),
  );
  if (!isWanted) return new Map();
  const { rows } = await sql<{ id: string; amount: string }>`
    select payment_id as id, token_amount as amount from reservations
    where rest_of is not null and released_at is null`.execute(db);
  return new Map(rows.map(({ id, amount }) => [id, BigInt(amount)]));
}

/** Statements of one history run one after the other, those of many histories pipelined on one connection. */
async function takeSmoothly(
  { lane }: Stage,
  smooth: readonly Played[],
  scene: Scene,
  { step, index, rests }: Context,
): Promise<void> {
  const busy = smooth.filter(({ history }) => {
    const turn = history.turns[index];
    return turn !== undefined && turn.acts.length + turn.reports.length > 0;
  });
  if (busy.length === 0) return;
  await lane.run(async () => {
    await all(
      busy.map(async each => {
        for (const act of each.history.turns[index]?.acts ?? []) {
          each.taken.push([[await perform(scene, each, act)]]);
        }
      }),
    );
    const reports = busy.map(each => ({ each, list: reportsOf(each, index, rests) }));
    const told = reports.flatMap(({ list }) => list.map(({ observed }) => observed));
    if (told.length === 0) return;
    const now = new Date(step.at);
    // The lane is one transaction, so the addresses of all histories are locked at once, in order.
    await lockAddresses(scene.db, told);
    await all(
      reports.map(async ({ each, list }) => {
        await observeAll(
          scene.db,
          list.map(({ observed }) => observed),
          now,
        );
        for (const { taken } of list) each.taken.push([[taken]]);
      }),
    );
  });
}

interface Prepared {
  readonly observed: ObservedTransfer;
  readonly taken: Taken;
}

/** The reports of a step, in the order in which a watcher tells them. */
function reportsOf(played: Played, index: number, rests: Rests): Prepared[] {
  const reports = played.history.turns[index]?.reports ?? [];
  const at = courseOf(played.history.seed)[index]?.at ?? 0;
  return reports
    .map((report: Report) => {
      const sent = resolve(played, report.transfer, rests);
      return { report, sent };
    })
    .toSorted(
      (a, b) =>
        Number(b.report.finality === 'reversed') - Number(a.report.finality === 'reversed') ||
        (a.sent.address < b.sent.address ? -1 : Number(a.sent.address > b.sent.address)),
    )
    .map(({ report, sent }) => reportOf(played, sent, report, at));
}

/** Each history in transactions of its own, as in a worker. */
async function takeRoughly(
  rough: readonly Played[],
  scene: Scene,
  context: Context,
): Promise<void> {
  await all(
    rough.map(async each => {
      try {
        await takeTurn(each, scene, context);
      } catch (error) {
        each.errors.push(error instanceof Error ? error.message : String(error));
      }
    }),
  );
}

async function takeTurn(
  played: Played,
  scene: Scene,
  { step, index, rests }: Context,
): Promise<void> {
  const turn = played.history.turns[index];
  if (turn === undefined) return;
  const { manner, acts } = turn;
  if (manner === 'in a race')
    return race(played, scene, turn, reportsOf(played, index, rests), step);
  for (const act of acts) {
    if (manner === 'after a death')
      await dying(scene.db, turn, db => perform({ ...scene, db }, played, act));
    played.taken.push([[await perform(scene, played, act)]]);
  }
  const reports = reportsOf(played, index, rests);
  if (reports.length === 0) return;
  const list = reports.map(({ observed }) => observed);
  const taken = reports.map(report => report.taken);
  const { db } = scene;
  switch (manner) {
    case 'together':
      await reportTogether(db, list, step.at);
      played.taken.push([taken]);
      return;
    case 'after a death':
      await dying(db, turn, mortalDb => reportTogether(mortalDb, list, step.at));
      await reportTogether(db, list, step.at);
      // It may have died before or after its commit.
      played.taken.push([taken, [...taken, ...taken]]);
      return;
    case 'twice':
      await all([reportTogether(db, list, step.at), reportTogether(db, list, step.at)]);
      // The second waits for the addresses that the first has locked.
      played.taken.push([[...taken, ...taken]]);
      return;
    case 'one by one': {
      const now = new Date(step.at);
      const worker = async (own: readonly ObservedTransfer[]) => {
        for (const observed of own) await observeTransfer(db, observed, now);
      };
      await all([worker(list), worker(list.toReversed())]);
      played.taken.push(permutations(taken));
      return;
    }
  }
}

/** People and watchers act concurrently. */
async function race(
  played: Played,
  scene: Scene,
  { acts }: Turn,
  reports: readonly Prepared[],
  { at }: Step,
): Promise<void> {
  const taken = await all([
    ...acts.map(act => perform({ ...scene, isRace: true }, played, { ...act, at })),
    ...reports.map(async report => {
      await observeTransfer(scene.db, report.observed, new Date(at));
      return report.taken;
    }),
  ]);
  played.taken.push(permutations(taken));
}

/** Starts work in a worker that dies: what it has not committed never happened. */
async function dying(
  db: Database,
  { dieAfter }: Pick<Turn, 'dieAfter'>,
  work: (db: Database) => Promise<unknown>,
): Promise<void> {
  try {
    await work(mortal(db, dieAfter));
  } catch (error) {
    if (!(error instanceof Dead)) throw error;
  }
}

const SWEEPS = { expire: expirePayments, lapse: lapseQuotes, deactivated: cancelDeactivated };

async function run(
  db: Database,
  sweep: Sweep,
  { at, limit, isDouble, dieAfter }: Step,
): Promise<void> {
  const now = new Date(at);
  if (dieAfter > 0) await dying(db, { dieAfter }, mortalDb => SWEEPS[sweep](mortalDb, now, limit));
  const worker = async () => {
    while ((await SWEEPS[sweep](db, now, limit)) > 0);
  };
  await (isDouble ? all([worker(), worker()]) : worker());
}

function repeatSweep(sweep: Sweep, step: Step, played: Played): Taken {
  const { history, payments } = played;
  const known = (network: string) => {
    const { chain } = CHAINS[network as NetworkId];
    return chain === SIMULATED ? step.at : Math.min(step.watched[chain].until, step.at);
  };
  const isInactive = courseOf(history.seed).some(
    ({ at }, index) =>
      at <= step.at && history.turns[index]?.acts.some(({ kind }) => kind === 'deactivate'),
  );
  return {
    text: `the worker sweeps: ${sweep}`,
    repeat(ledger) {
      if (sweep === 'expire') ledger.expire(known, step.at);
      else if (sweep === 'lapse') ledger.lapse(known, step.at);
      else if (isInactive) {
        const [{ merchantId: inactive }] = played.merchants;
        const own = payments.filter((_, index) => payeeOf(played, index).merchantId === inactive);
        ledger.cancelAll(
          own.flatMap(each => each?.id ?? []),
          step.at,
        );
      }
    },
  };
}

/** Waits for all promises, even if one rejects, so that nothing runs on after a failure. */
async function all<T>(work: readonly Promise<T>[]): Promise<T[]> {
  const failed = (await Promise.allSettled(work)).find(({ status }) => status === 'rejected');
  if (failed?.status === 'rejected') throw failed.reason;
  return Promise.all(work);
}
