import { courseOf, NETWORKS, type NetworkId, START, type Step } from './course.ts';
import { drawCrowd } from './crowd.ts';
import { createRandom, type Random } from './random.ts';
import { drawTransfers } from './transfers.ts';
import { drawWallet } from './wallet.ts';

/** What a customer sends, compared with what is asked for. */
export type Amount =
  | 'exact'
  | 'half'
  | 'most'
  | 'rest'
  | 'bit over'
  | 'just over'
  | 'too much'
  | 'dust'
  | 'least tolerated'
  | 'less than tolerated'
  | 'one unit off'
  | 'cut'
  | 'cut to little'
  | 'rounded'
  | 'rest cut';
export type Finality = 'seen' | 'final' | 'reversed' | 'failed';

/** A transfer on chain. */
export interface Transfer {
  readonly hash: string;
  readonly position: number;
  /** The payment that it is meant for; its amount and address are known when it is first reported. */
  readonly payment: number;
  readonly amount: Amount;
  /** Whether it goes to another address of the branch than the payment's. */
  readonly astray: boolean;
  /** When it was made, in milliseconds since the epoch. */
  readonly madeAt: number;
  /** The latest and the earliest time at which it was made, as its watcher knows it. */
  readonly occurredAt: number;
  readonly earliestAt: number;
}

/** What a customer, an operator or a watcher does. */
export type Act =
  | { readonly kind: 'open' | 'cancel'; readonly payment: number; readonly at: number }
  | {
      readonly kind: 'choose';
      readonly payment: number;
      readonly other: boolean;
      readonly at: number;
    }
  | { readonly kind: 'deactivate'; readonly at: number }
  | {
      readonly kind: 'assign';
      readonly transfer: number;
      readonly payment: number;
      readonly at: number;
    }
  | { readonly kind: 'dismiss'; readonly transfer: number; readonly at: number };

/** A watcher's report of a transfer. */
export interface Report {
  readonly transfer: number;
  readonly finality: Finality;
  /** null while it is in no block. */
  readonly block: number | null;
}

/**
 * How the reports of a step arrive: in one transaction; from a worker that dies, and then from another one;
 * from two workers at once; one by one, from two workers in different orders; concurrently with what people
 * do in this step.
 */
type Manner = 'together' | 'after a death' | 'twice' | 'one by one' | 'in a race';

/** What happens between two steps of the course, and at the later one. */
export interface Turn {
  readonly acts: readonly Act[];
  readonly reports: readonly Report[];
  readonly manner: Manner;
  /** For deaths: after how many statements. */
  readonly dieAfter: number;
}

/** A small self-contained world: a merchant's branch, its addresses on a network, payments and transfers. */
export interface History {
  readonly seed: number;
  readonly network: NetworkId;
  /** Another network at the same addresses; null for none. */
  readonly other: NetworkId | null;
  readonly addresses: number;
  /** Whether the addresses are those of a wallet, of which each payment gets its own as long as there are any. */
  readonly isWallet: boolean;
  /** Whether two branches of the merchant have the wallet, and the second one every second payment. */
  readonly hasTwoBranches: boolean;
  /** Whether another merchant shares the addresses, and has every second payment. */
  readonly isShared: boolean;
  readonly toleranceBps: number;
  /** Price of each payment in cents, and whether its expiry is fixed at creation, as in the older contract. */
  readonly payments: readonly { readonly cents: number; readonly isFixed: boolean }[];
  readonly transfers: readonly Transfer[];
  /** One for each step of the course. */
  readonly turns: readonly Turn[];
  /** Whether its turns run in transactions of their own, as in a worker, with deaths and races. */
  readonly isRough: boolean;
}

/** In cents. */
const PRICES = [100, 100, 250, 1_999];
/** Draws the history of a seed, on the course of its group. */
export function drawHistory(seed: number): History {
  const course = courseOf(seed);
  const random = createRandom('history', seed);
  // Mostly Bitcoin, which has the fewest amounts for a price.
  const network = random.chance(50) ? 'btc-test' : random.pick(NETWORKS);
  const base = random.pick(PRICES);
  const count = random.pick([2, 2, 2, 2, 3, 3, 4, 5]);
  const payments = Array.from({ length: count }, () => ({
    cents: random.chance(75) ? base : Math.ceil(base * random.pick([1.005, 1.01, 1.02, 2])),
    isFixed: random.chance(12),
  }));
  const isApart = random.chance(8);
  const acts: Act[][] = course.map(() => []);
  const opened = payments.map((_, payment) => {
    const step = random.below(course.length - 4);
    const at = momentIn(random, course, step);
    acts[step]?.push({ kind: 'open', payment, at });
    return at;
  });
  const hasOther = network === 'eth-test' || network === 'eth-usdc-test';
  const other = network === 'eth-test' ? 'eth-usdc-test' : 'eth-test';
  const drawn = drawTransfers(random, { course, network, opened });
  const act = (make: (step: number, at: number) => void, percent: number) => {
    if (!random.chance(percent)) return;
    const step = random.below(course.length - 2);
    make(step, momentIn(random, course, step));
  };
  const payment = () => random.below(count);
  const transfer = () => random.below(drawn.transfers.length);
  act((step, at) => acts[step]?.push({ kind: 'cancel', payment: payment(), at }), 20);
  act((step, at) => {
    acts[step]?.push({
      kind: 'choose',
      payment: payment(),
      other: hasOther && random.chance(60),
      at,
    });
  }, 20);
  // A customer who changes their mind may come back.
  if (hasOther) {
    act((step, at) => {
      const wanted = payment();
      acts[step]?.push({ kind: 'choose', payment: wanted, other: true, at });
      const back = step + random.below(2);
      const later = back === step ? at + 1 : momentIn(random, course, back);
      if (random.chance(60)) {
        acts[back]?.push({ kind: 'choose', payment: wanted, other: false, at: later });
      }
    }, 30);
  }
  act((step, at) => acts[step]?.push({ kind: 'deactivate', at }), 6);
  act((step, at) => {
    acts[step]?.push({ kind: 'assign', transfer: transfer(), payment: payment(), at });
  }, 20);
  act((step, at) => acts[step]?.push({ kind: 'dismiss', transfer: transfer(), at }), 10);
  const crowd = drawCrowd(seed, { course, network, opened }, drawn, acts);
  const isShared = createRandom('shared', seed).chance(15);
  const wallet = createRandom('wallet', seed);
  const isWallet = network === 'btc-test' && !isShared && wallet.chance(25);
  // Few enough that payments sometimes share one.
  const size = isWallet ? wallet.pick([1, 2, 3, 6]) : 0;
  const use = isWallet ? drawWallet(seed, size, { course, payments }, drawn, acts) : null;
  const isRough = isApart || crowd !== null;
  const turns = course.map((_, step): Turn => {
    const own = (acts[step] ?? []).toSorted((a, b) => a.at - b.at);
    const reports = drawn.reports[step] ?? [];
    const manner =
      step === crowd ? 'in a race' : isRough ? drawManner(random, own, reports) : 'together';
    // Reversals first, in the order in which watchers report.
    const sorted = reports.toSorted(
      (a, b) => Number(b.finality === 'reversed') - Number(a.finality === 'reversed'),
    );
    return { acts: own, reports: sorted, manner, dieAfter: 1 + random.below(14) };
  });
  const addresses = random.pick([1, 1, 1, 2, 3]);
  return {
    seed,
    network,
    other: hasOther ? other : null,
    payments,
    turns,
    isRough,
    isShared,
    isWallet,
    hasTwoBranches: use?.hasTwoBranches ?? false,
    addresses: use?.addresses ?? addresses,
    toleranceBps: random.pick([0, 0, 0, 50, 200]),
    transfers: drawn.transfers,
  };
}

function drawManner(random: Random, acts: readonly Act[], reports: readonly Report[]): Manner {
  const distinct = new Set(reports.map(({ transfer }) => transfer)).size === reports.length;
  const most = acts.length + reports.length;
  if (most > 1 && most <= 3 && distinct && random.chance(50)) return 'in a race';
  if (distinct && reports.length <= 3 && random.chance(30)) return 'one by one';
  return random.pick(['together', 'after a death', 'after a death', 'twice']);
}

/** A moment between a step and the previous one. */
export function momentIn(random: Random, course: readonly Step[], step: number): number {
  const from = course[step - 1]?.at ?? START;
  const to = course[step]?.at ?? from + 2;
  return from + 1 + random.below(to - from - 1);
}
