import { sql } from 'kysely';
import { v7 as uuidv7 } from 'uuid';
import { expirePayments } from '#onchain/settlement/expire-on-chain.ts';
import { lapseQuotes } from '#onchain/settlement/lapse-quotes.ts';
import { createRandom } from '../../settlement/truth/random.ts';
import { BITCOIN } from './bitcoin.ts';
import { type ChainStep, chainCourseOf, START } from './course.ts';
import { type Customers, createCustomers } from './customers.ts';
import { EVM } from './evm-header.ts';
import { createFaultyNode, type FaultyNode, Killed } from './faulty-node.ts';
import { GeneratedChain } from './generated-chain.ts';
import { type Fault, watchRules } from './rules.ts';
import { SLOTS } from './slots.ts';
import { SOLANA } from './solana.ts';
import type { ChainStage } from './stage.ts';
import { type ChainWorker, createChainWorker, lapseLease, type RoundResult } from './worker.ts';
import type { Act, Mishap, Turn, World } from './world.ts';

const FAMILIES = { evm: EVM, bitcoin: BITCOIN, solana: SOLANA } as const;
const SWEEPS = { expire: expirePayments, lapse: lapseQuotes } as const;
const PAYMENTS_PER_SWEEP = 50;
const DAY_MS = 24 * 60 * 60_000;
/**
 * Extra rounds at the end, and the pause between them, where a node keeps failing: the watcher gives up what cannot
 * be read.
 */
const TRIES = 6;
const RETRY_MS = 2_000;
/** Longest window of the networks, in milliseconds: how long a payment waits until a network is chosen. */
const LONGEST_WINDOW_MS = 60 * 60_000;

/** A chain while it is played. */
export interface PlayedChain {
  readonly world: World;
  readonly chain: GeneratedChain;
  readonly customers: Customers;
  /** What happened, for humans. */
  readonly told: string[];
  /** Faults found on the way. */
  readonly faults: Fault[];
  /** Whether the step's round has read everything that its node shows. */
  isRead: boolean;
  /** When rounds were completed, in milliseconds since the epoch. */
  readonly doneAt: number[];
  /** Whether a round was completed after an amount was asked for, and before a transfer of it was mined. */
  isKnown(reservedAt: number, transfer: { readonly block: { readonly madeAt: number } }): boolean;
}

interface Playing extends PlayedChain {
  now: number;
  readonly primary: FaultyNode;
  readonly check: FaultyNode | null;
  readonly workers: [ChainWorker, ChainWorker];
  /** The worker that had the previous round. */
  last: 0 | 1;
}

/** Plays chains of one group side by side to their end, all of them or some. */
export async function playChains(
  stage: ChainStage,
  worlds: readonly World[],
): Promise<readonly PlayedChain[]> {
  const played = worlds.map(world => open(stage, world));
  await stage.prepare(
    worlds,
    played.map(({ world, chain }) =>
      world.slot.family === 'evm' ? '1' : (chain.best[0]?.hash ?? ''),
    ),
  );
  for (const [index, step] of chainCourseOf(worlds[0]?.seed ?? 0).entries()) {
    const from = chainCourseOf(worlds[0]?.seed ?? 0)[index - 1]?.at ?? START;
    const opened = played.flatMap(each => newPayments(stage, each, from, step.at));
    if (opened.length > 0) await stage.db.insertInto('payments').values(opened).execute();
    await all(played.map(each => takeTurn(stage, each, { index, from, step })));
    await watchRules(stage, played, step.at);
    for (const sweep of step.sweeps) {
      const now = new Date(step.at);
      while ((await SWEEPS[sweep](stage.db, now, PAYMENTS_PER_SWEEP)) > 0);
    }
  }
  return played;
}

function open(stage: ChainStage, world: World): Playing {
  const random = createRandom('blocks', world.seed);
  const chain = new GeneratedChain(world, FAMILIES[world.slot.family], random);
  const now = () => result.now;
  const doneAt: number[] = [];
  const onAsked = () => {
    result.now += 1;
  };
  const primary = createFaultyNode(world, chain, 'primary', () => chain.primary, now, onAsked);
  const check = world.hasCheck
    ? createFaultyNode(world, chain, 'check', () => chain.best, now, onAsked)
    : null;
  const playing: Omit<Playing, 'workers'> = {
    world,
    chain,
    primary,
    check,
    now: START,
    last: 0,
    told: [],
    faults: [],
    isRead: false,
    doneAt,
    isKnown: (reservedAt, { block }) => doneAt.some(at => at >= reservedAt && at <= block.madeAt),
    customers: createCustomers(stage, world, chain, createRandom('customers', world.seed)),
  };
  const surroundings = { db: stage.db, clock: now, primary, check };
  const create = (holder: string) => createChainWorker(world, surroundings, holder);
  const workers: Playing['workers'] = [create('a'), create('b')];
  const result: Playing = Object.assign(playing, { workers });
  return result;
}

function newPayments(
  { branches }: ChainStage,
  { world, customers }: PlayedChain,
  from: number,
  to: number,
) {
  return actsWithin(world, from, to).flatMap(act => {
    if (act.kind !== 'open') return [];
    const { cents = 0, network = '', isFixed = false } = world.payments[act.payment] ?? {};
    const id = uuidv7();
    customers.ids[act.payment] = id;
    const {
      merchantId = '',
      branchId = '',
      otherId = '',
    } = branches[SLOTS.indexOf(world.slot)] ?? {};
    const isOther = world.wallet?.isShared === true && act.payment % 2 === 1;
    return [
      {
        id,
        merchant_id: merchantId,
        branch_id: isOther ? otherId : branchId,
        created_by: 'truth',
        amount: cents,
        flow: 'crypto' as const,
        commission_amount: 0,
        commission_bps: 0,
        commission_payer: 'merchant' as const,
        settlement_model: 'direct' as const,
        offered_blockchain_ids: [network],
        expires_at: new Date(act.at + (isFixed ? DAY_MS / 12 : LONGEST_WINDOW_MS)),
        expiry_fixed: isFixed,
        created_at: new Date(act.at),
      },
    ];
  });
}

function actsWithin({ acts }: World, from: number, to: number): Act[] {
  return acts.filter(({ at }) => at > from && at <= to);
}

interface Span {
  readonly index: number;
  readonly from: number;
  readonly step: ChainStep;
}

/** Plays what happens on a chain up to a step, and its watcher's round there. */
async function takeTurn(
  stage: ChainStage,
  playing: Playing,
  { index, from, step }: Span,
): Promise<void> {
  const { world, chain, customers, told } = playing;
  const turn = world.turns[index];
  if (turn === undefined) return;
  const { fork, split } = turn;
  const happens: { readonly at: number; readonly run: (now: number) => unknown }[] = [
    ...turn.blocks.map(at => ({ at, run: (now: number) => chain.mine(now, step.isEnd) })),
    ...(fork === null ? [] : [{ at: fork.at, run: (now: number) => chain.fork(fork.depth, now) }]),
    ...(split === null || split === 'over'
      ? []
      : [{ at: split.at, run: (now: number) => chain.split(split.depth, now) }]),
    ...actsWithin(world, from, step.at).flatMap(act =>
      act.kind === 'open' ? [] : [{ at: act.at, run: (now: number) => customers.act(act, now) }],
    ),
  ];
  // The previous round has taken some milliseconds.
  const passTo = (at: number) => {
    playing.now = Math.max(playing.now, at);
    return playing.now;
  };
  for (const { at, run } of happens.toSorted((a, b) => a.at - b.at)) {
    const now = passTo(at);
    told.push(...customers.goOn(now));
    const what = await run(now);
    if (typeof what === 'string') told.push(`${clock(now)} ${what}`);
  }
  const began = passTo(step.at);
  if (split === 'over' || (step.isEnd && chain.minority !== null)) chain.join(began);
  let result = await takeRound(stage, playing, turn, step);
  for (let count = 0; step.isEnd && result === 'broken off' && count < TRIES; count++) {
    playing.now += RETRY_MS;
    result = await takeRound(stage, playing, turn, step);
  }
  // A false report is corrected in one round, and becomes final in the next.
  if (index === world.turns.length - 1 && chain.lied.size > 0) {
    playing.now += 31_000;
    result = await takeRound(stage, playing, turn, step);
  }
  const tips = [chain.best, chain.minority].map(branch => branch?.at(-1)?.height ?? 'none');
  told.push(
    `${clock(step.at)} round${turn.isLying ? ' with lies' : ''}: ${result}; newest blocks: ${tips.join(', ')}`,
  );
}

async function takeRound(
  stage: ChainStage,
  playing: Playing,
  turn: Turn,
  step: ChainStep,
): Promise<RoundResult | 'none'> {
  const { world, chain, primary, check, workers } = playing;
  const { mishap, worker } = turn;
  playing.isRead = false;
  if (worker === null) return 'none';
  const own = worker;
  const begin = (isMishap: boolean) => {
    primary.begin({ ...turn, mishap: isMishap ? mishap : null, onCall });
    check?.begin({ ...turn, mishap: null, onCall });
  };
  if (turn.isNew || own !== playing.last) await lapseLease(stage.db, world);
  if (turn.isNew) renew(own);
  playing.last = own;
  begin(true);
  const result = await workers[own].round();
  if (result === 'killed') {
    renew(own);
    await lapseLease(stage.db, world);
  }
  if (result === 'elsewhere')
    playing.faults.push({ kind: 'other deviation', what: 'nobody has the lease' });
  // While nodes are on two branches, deposits are in the block that was looked up last.
  const isAtOne = mishap === null && turn.logLag === 0 && !turn.isLying && chain.minority === null;
  playing.isRead = result === 'done' && isAtOne;
  if (result === 'done') playing.doneAt.push(playing.now);
  if (playing.isRead) {
    for (const each of chain.mempool(chain.best)) {
      if (!chain.isLeftOut(each, 'primary', ['unconfirmed'], playing.now)) chain.listed.add(each);
    }
  }
  return result;

  function renew(which: 0 | 1): void {
    const surroundings = { db: stage.db, clock: () => playing.now, primary, check };
    workers[which] = createChainWorker(world, surroundings, which === 0 ? 'a' : 'b');
  }

  /** Where a rule counts blocks, a fork may be deeper than the rule, as long as it undoes no final deposit. */
  async function forkDeep(): Promise<void> {
    const depth = Math.min(world.undone + 2, chain.best.length - 2);
    const lowest = chain.best.at(-depth)?.height ?? 0;
    const isFinal = world.slot.family !== 'bitcoin' && lowest <= chain.finalHeight(chain.best);
    if (world.undone === 0 || isFinal) return;
    // Another deposit that is looked up concurrently may have become final a moment before.
    const { rows } = await sql<{ isSafe: boolean }>`
      select count(distinct transaction_hash) filter (where state = 'seen') <= 1
         and count(*) filter (where state = 'final' and block_height >= ${lowest}) = 0 as "isSafe"
      from deposits where blockchain_id = any(${[...world.slot.networks]}::text[])`.execute(
      stage.db,
    );
    if (rows[0]?.isSafe === true) chain.forkDeep(depth, playing.now);
  }

  async function onCall(kind: Mishap): Promise<void> {
    playing.told.push(`${clock(step.at)} at call ${mishap?.call}: ${kind}`);
    if (kind === 'block') chain.mine(playing.now);
    if (kind === 'fork' && world.undone > 0) chain.fork(world.undone, playing.now);
    if (kind === 'deep fork') await forkDeep();
    if (kind === 'kill') throw new Killed();
    if (kind !== 'overtaken') return;
    await lapseLease(stage.db, world);
    begin(false);
    const other = own === 0 ? 1 : 0;
    playing.last = other;
    await workers[other].round();
  }
}

/** A moment, for humans. */
export function clock(at: number): string {
  return new Date(at).toISOString().slice(11, 19);
}

/** Waits for all promises, even if one rejects, so that nothing runs on after a failure. */
async function all<T>(work: readonly Promise<T>[]): Promise<T[]> {
  const failed = (await Promise.allSettled(work)).find(({ status }) => status === 'rejected');
  if (failed?.status === 'rejected') throw failed.reason;
  return Promise.all(work);
}
