import { createRandom, type Random } from '../../settlement/truth/random.ts';
import { type ChainStep, chainCourseOf, END_ROUNDS, START } from './course.ts';
import { drawOmission, type Omission } from './omission.ts';
import { addressesOf, type Slot, slotOf } from './slots.ts';
import { drawParts, drawWallet, type Wallet } from './wallet.ts';

/** What a customer sends, compared with what is asked for. */
export type Amount =
  | 'exact'
  | 'half'
  | 'third'
  | 'rest'
  | 'bit over'
  | 'too much'
  | 'tolerated'
  | 'dust'
  /** With two decimals fewer than was asked for, cut off or rounded. */
  | 'cut'
  | 'rounded';

/** What becomes of a transaction, apart from forks. */
export type Fate =
  | 'plain'
  /** It has no effect. */
  | 'failed'
  /** It leaves the mempool, and is never mined again. */
  | 'dropped'
  /** A conflicting transaction pays somebody else. */
  | 'double spent'
  /** A conflicting transaction pays the same. */
  | 'sent again';

/** What customers do, and merchants who move what they have received. */
export type Act =
  | { readonly kind: 'open' | 'choose'; readonly payment: number; readonly at: number }
  | {
      readonly kind: 'pay';
      readonly payment: number;
      readonly at: number;
      readonly amount: Amount;
      readonly fate: Fate;
      /** Payment that the transfer names by its reference (Solana); null for none. */
      readonly names: number | null;
    }
  | {
      readonly kind: 'move';
      /** The payment whose address the funds leave. */
      readonly payment: number;
      readonly at: number;
      /** In percent of what was asked for. */
      readonly share: number;
    };

/** What happens at a call of a round, by the number of the call. */
export type Mishap =
  /** The node does not respond. */
  | 'no answer'
  /** It responds to each call of the request with an error. */
  | 'error'
  /** It does not have a block that it is asked for. */
  | 'no block'
  /** From here on another backend responds, which is some blocks behind. */
  | 'lag'
  /** A block is mined before it responds, or some are undone. */
  | 'block'
  | 'fork'
  /**
   * More blocks are undone than a finality rule tolerates, none of them final yet: while a transaction is looked up,
   * whatever the number of the call.
   */
  | 'deep fork'
  /** The worker is killed. */
  | 'kill'
  /** Another worker takes over while this one waits for the answer. */
  | 'overtaken';

/** What happens between two steps of the course, and at the later one. */
export interface Turn {
  /** Times at which blocks are mined. */
  readonly blocks: readonly number[];
  /** When blocks are undone, and how many; null for none. */
  readonly fork: { readonly at: number; readonly depth: number } | null;
  /** Whether the primary node switches to a branch of its own, or back from it. */
  readonly split: { readonly at: number; readonly depth: number } | 'over' | null;
  /** Which of the two workers has the round; null for none. */
  readonly worker: 0 | 1 | null;
  /** Whether it has just been started. */
  readonly isNew: boolean;
  readonly mishap: { readonly kind: Mishap; readonly call: number } | null;
  /** Blocks by which lists of logs lag in this round, without an error. */
  readonly logLag: number;
  /** The most blocks of a query for logs. */
  readonly logRange: number;
  /** Whether the primary node reports twice the amounts of tokens (EVM). */
  readonly isLying: boolean;
}

/** A generated chain, and who pays on it. */
export interface World {
  readonly seed: number;
  readonly slot: Slot;
  /** The most blocks that are undone at once. */
  readonly undone: number;
  /** Depth of the final block below the newest one. */
  readonly finalDepth: number;
  /** The networks' rule of finality. */
  readonly rule: string;
  readonly hasCheck: boolean;
  /** Whether the node can look up any transaction (Bitcoin). */
  readonly isIndexed: boolean;
  readonly toleranceBps: number;
  readonly addresses: readonly string[];
  /** The wallet whose addresses these are (Bitcoin); null for none. */
  readonly wallet: Wallet | null;
  readonly payments: readonly {
    readonly cents: number;
    readonly network: string;
    readonly isFixed: boolean;
  }[];
  /** In the order of their times. */
  readonly acts: readonly Act[];
  readonly turns: readonly Turn[];
  /** What one of the nodes leaves out; null for nothing. */
  readonly omission: Omission | null;
  /** Whether nodes run programs that are in no contract (EVM). */
  readonly runsPrograms: boolean;
  /** Whether nodes give all receipts of a block (EVM). */
  readonly givesBlockReceipts: boolean;
}

const SECOND = 1_000;
const AMOUNTS: readonly Amount[] = [
  ...Array<Amount>(9).fill('exact'),
  ...(['half', 'half', 'bit over', 'too much', 'tolerated', 'dust', 'cut', 'cut'] as const),
  'rounded',
];
const FATES: readonly Fate[] = [
  ...Array<Fate>(14).fill('plain'),
  ...(['failed', 'dropped', 'double spent', 'sent again'] as const),
];
const MISHAPS: readonly Mishap[] = [
  ...(['no answer', 'error', 'no block', 'lag', 'lag', 'block', 'fork', 'fork', 'fork'] as const),
  ...(['deep fork', 'deep fork', 'kill', 'overtaken'] as const),
];
/** Most rounds have few calls. */
const CALLS = [0, 1, 1, 2, 2, 3, 3, 4, 5, 6, 8];
/** How long customers take to pay, in seconds: at once, at the end of a window, and after it. */
const DELAYS = [
  ...[3, 3, 10, 10, 20, 20, 45, 45, 90, 90, 240, 240, 600, 700],
  ...[880, 905, 1_780, 1_810, 3_590, 3_620, 5_000],
];

/** Draws the chain of a seed, on the course of its group. */
export function drawWorld(seed: number): World {
  const random = createRandom('chain', seed);
  const slot = slotOf(seed);
  const course = chainCourseOf(seed);
  const undone = slot.mayFork ? 1 + random.below(4) : 0;
  const hasCheck = random.chance(40);
  const isSplit = hasCheck && slot.mayFork && slot.family !== 'solana' && random.chance(75);
  const isByBlocks =
    slot.family === 'bitcoin' || isSplit || (slot.chain === 'eth-test' && random.chance(50));
  const finalDepth = isSplit ? 16 : undone + random.pick([0, 0, 1, 3]);
  const blocks = undone + 1;
  const tolerance = random.pick([0, 0, 0, 100]);
  const payments = Array.from({ length: random.pick([1, 2, 2, 3]) }, () => ({
    cents: random.pick([250, 250, 1_999, 120_000]),
    network: random.pick(slot.networks),
    isFixed: random.chance(8),
  }));
  const acts = drawActs(random, course, slot, payments);
  const wallet = drawWallet(seed, slot);
  const world: World = {
    seed,
    slot,
    undone,
    finalDepth,
    hasCheck,
    payments,
    acts,
    wallet,
    toleranceBps: tolerance,
    rule: isByBlocks ? random.pick([`${blocks}`, `${blocks}@100000,${blocks + 2}`]) : 'final',
    isIndexed: random.chance(60),
    addresses: addressesOf(slot).slice(0, random.pick([1, 1, 2])),
    turns: drawTurns(random, course, { slot, undone, finalDepth, isSplit }),
    omission: drawOmission(random, { slot, hasCheck, payments, acts }),
    runsPrograms: random.chance(80),
    givesBlockReceipts: random.chance(65),
  };
  if (wallet === null) return world;
  return { ...world, addresses: wallet.addresses, acts: drawParts(world, lastPaid(course)) };
}

/** When customers pay at the latest. */
function lastPaid(course: readonly ChainStep[]): number {
  return course.findLast(({ isEnd }) => !isEnd)?.at ?? START;
}

function drawActs(
  random: Random,
  course: readonly ChainStep[],
  slot: Slot,
  payments: World['payments'],
): Act[] {
  const acts: Act[] = [];
  const last = lastPaid(course);
  for (const payment of payments.keys()) {
    const step = 1 + random.below(Math.max(1, course.length - END_ROUNDS - 3));
    const from = course[step - 1]?.at ?? START;
    const at = from + 1 + random.below((course[step]?.at ?? from + 2) - from - 1);
    acts.push({ kind: 'open', payment, at: at - 1 }, { kind: 'choose', payment, at });
    // A customer who was refused because the chain's scan lags tries again.
    const again = (course[step + 1]?.at ?? at) + random.below(3_000);
    acts.push({ kind: 'choose', payment, at: again });
    if (random.chance(6)) continue;
    let sent = at;
    for (let count = random.pick([1, 1, 1, 2]); count > 0; count--) {
      sent += random.pick(DELAYS) * SECOND + random.below(900);
      const fate = random.pick(FATES);
      // A slight overpayment goes to the payment that it names.
      const isOver = slot.family === 'solana' && random.chance(35);
      const amount = isOver ? 'bit over' : random.pick(AMOUNTS);
      // Mostly its own payment, as with a wallet.
      const named = random.chance(75) ? payment : random.below(payments.length);
      const names = random.chance(50) ? named : null;
      const paidAt = Math.min(sent, last);
      acts.push({ kind: 'pay', payment, at: paidAt, amount, fate, names });
      // Funds that leave hide funds that arrive, best of all if the amount is the same.
      if (slot.family !== 'bitcoin' && random.chance(25)) {
        const movedAt = paidAt + random.pick([1, 5, 20, 60, 300]) * SECOND;
        acts.push({ kind: 'move', payment, at: movedAt, share: random.pick([100, 100, 50, 250]) });
      }
      if (amount !== 'half' || !random.chance(70)) continue;
      const later = Math.min(sent + random.pick([120, 400, 900]) * SECOND, last + 60 * SECOND);
      acts.push({ kind: 'pay', payment, at: later, amount: 'rest', fate: 'plain', names });
    }
  }
  return acts.toSorted((a, b) => a.at - b.at);
}

function drawTurns(
  random: Random,
  course: readonly ChainStep[],
  {
    slot,
    undone,
    finalDepth,
    isSplit,
  }: Pick<World, 'slot' | 'undone' | 'finalDepth'> & { readonly isSplit: boolean },
): Turn[] {
  const split = isSplit ? 3 + random.below(4) : -1;
  const join = split + 1 + random.below(4);
  let worker: 0 | 1 = 0;
  let isAway = false;
  return course.map(({ at, isEnd }, step): Turn => {
    const from = course[step - 1]?.at ?? START;
    const moment = () => from + 1 + random.below(at - from - 1);
    const count = isEnd ? finalDepth + 2 : random.pick([0, 1, 1, 2, 2, 3, 4]);
    isAway = !isEnd && random.chance(isAway ? 50 : 12);
    const isNew = !isEnd && random.chance(8);
    if (random.chance(10) && !isEnd) worker = worker === 0 ? 1 : 0;
    // Only Bitcoin's watcher has to see for hours that a transaction is gone.
    const isSpared = isEnd && slot.family !== 'bitcoin' && (course.length - step) % 2 === 0;
    const isForked = undone > 0 && !isEnd && step > 1 && random.chance(28);
    const mayErr = !isEnd && random.chance(45);
    return {
      blocks: Array.from({ length: count }, moment).toSorted((a, b) => a - b),
      // Finality rules have to withstand the deepest forks.
      fork: isForked
        ? { at: moment(), depth: random.chance(50) ? undone : 1 + random.below(undone) }
        : null,
      split:
        step === split
          ? { at: moment(), depth: 1 + random.below(undone) }
          : step === join
            ? 'over'
            : null,
      worker: isAway || isSpared ? null : worker,
      isNew,
      mishap: mayErr ? { kind: random.pick(MISHAPS), call: random.pick(CALLS) } : null,
      logLag: !isEnd && random.chance(20) ? 1 + random.below(2) : 0,
      logRange: isEnd || random.chance(60) ? 1_000 : 1 + random.below(3),
      isLying: !isEnd && random.chance(12),
    };
  });
}
