import { CHAINS, type Step } from './course.ts';
import { type Act, type Amount, type History, momentIn, type Report } from './history.ts';
import { createRandom, type Random } from './random.ts';
import type { Drawn } from './transfers.ts';

/** How the addresses of a wallet are used. */
export type WalletUse =
  /** By the payments of the history alone. */
  | 'plain'
  /** By so many unpaid ones before them that wallets would not look further. */
  | 'crowded'
  /** By one of them in parts, the first of which may be undone after the last. */
  | 'parts'
  /** By others again, a day after the payments that had them have ended. */
  | 'again';

const SECOND = 1_000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;

const USES: readonly WalletUse[] = ['plain', 'plain', 'parts', 'crowded', 'again', 'again'];
/** More than a gap, and what the first transfer in a block opens. */
const CROWDED_SIZE = 25;
const CROWDS = [12, 16, 17, 18, 18, 19];
/** How long after the previous step an address is asked for again. */
const AGAIN_AFTER = [23 * HOUR, 25 * HOUR, 25 * HOUR + 30 * MINUTE];
const PAID: readonly Amount[] = ['exact', 'exact', 'half', 'bit over', 'cut'];

interface Setting {
  readonly course: readonly Step[];
  readonly payments: History['payments'][number][];
}

/**
 * Draws how a wallet is used, and adds payments, transfers and acts to those of its history.
 * @param size How many addresses it has, where it is not crowded.
 */
export function drawWallet(
  seed: number,
  size: number,
  setting: Setting,
  drawn: Drawn,
  acts: readonly Act[][],
): { readonly addresses: number; readonly hasTwoBranches: boolean } {
  const random = createRandom('wallet use', seed);
  const hasTwoBranches = random.chance(35);
  const use = random.pick(USES);
  if (use === 'crowded') crowd(random, setting, drawn, acts);
  if (use === 'parts') payInParts(random, setting, drawn, acts);
  if (use === 'again') askAgain(random, setting, drawn, acts);
  return { addresses: use === 'crowded' ? CROWDED_SIZE : size, hasTwoBranches };
}

/**
 * Payments that nobody pays, before all others, but mostly one that is paid in a block, which may be undone; and some that
 * are opened after each of this.
 */
function crowd(
  random: Random,
  { course, payments }: Setting,
  { transfers, reports }: Drawn,
  acts: readonly Act[][],
): void {
  const first = payments.length;
  const cents = payments[0]?.cents ?? 100;
  const open = (step: number, at: number) => {
    acts[step]?.push({ kind: 'open', payment: payments.length, at });
    payments.push({ cents, isFixed: false });
  };
  const start = Math.min(...acts.flatMap(list => list.map(({ at }) => at)), course[0]?.at ?? 0);
  for (let count = random.pick(CROWDS); count > 0; count--) {
    open(0, start - count);
  }
  const last = payments.length;
  if (random.chance(25)) return;
  const polled = polledSteps(course).filter(step => step < course.length - 3);
  const place = random.below(Math.max(1, polled.length - 2));
  const transfer = transfers.length;
  const payment = first + random.below(last - first);
  transfers.push(sent(course[polled[place] ?? 0]?.at ?? 0, { transfer, payment, amount: 'exact' }));
  const isUndone = random.chance(60);
  const lives: readonly Report['finality'][] = isUndone
    ? ['seen', 'reversed', ...(random.chance(50) ? (['seen'] as const) : [])]
    : ['seen', 'final'];
  for (const [index, finality] of lives.entries()) {
    const step = polled[Math.min(place + index, polled.length - 1)] ?? 0;
    const block = finality === 'reversed' || random.chance(15) ? null : 100 + step;
    reports[step]?.push({ transfer, finality, block });
    if (random.chance(70)) open(step + 1, momentIn(random, course, step + 1));
  }
}

/** A payment gets a part, and soon the rest; then the first is final or undone, and the second the same, in any order. */
function payInParts(
  random: Random,
  { course, payments }: Setting,
  { transfers, reports }: Drawn,
  acts: readonly Act[][],
): void {
  const payment = random.below(payments.length);
  const opened = acts.findIndex(list =>
    list.some(act => act.kind === 'open' && act.payment === payment),
  );
  const steps = polledSteps(course).filter(step => step > opened);
  const stepAt = (place: number) => steps[Math.min(place, steps.length - 1)] ?? course.length - 1;
  for (const [place, amount] of (['half', 'rest'] as const).entries()) {
    const transfer = transfers.length;
    transfers.push(sent(course[stepAt(place)]?.at ?? 0, { transfer, payment, amount }));
    const end = random.chance(50) ? 'final' : 'reversed';
    const ends = 2 + random.below(3);
    reports[stepAt(place)]?.push({ transfer, finality: 'seen', block: 100 + place });
    const block = end === 'final' ? 110 + place : null;
    reports[stepAt(ends)]?.push({ transfer, finality: end, block });
    // It is in another block later on.
    if (end === 'reversed' && random.chance(50)) {
      reports[stepAt(ends + 1)]?.push({ transfer, finality: 'seen', block: 120 + place });
    }
  }
}

/** Payments that are opened about a day after the others have ended, and late money of the others. */
function askAgain(
  random: Random,
  { course, payments }: Setting,
  { transfers, reports }: Drawn,
  acts: readonly Act[][],
): void {
  const last = course.length - 1;
  const end = course[last]?.at ?? 0;
  const before = payments.length;
  let at = (course[last - 1]?.at ?? 0) + random.pick(AGAIN_AFTER);
  for (let count = random.pick([1, 1, 2]); count > 0; count--) {
    at += SECOND;
    const cents = payments[random.below(before)]?.cents ?? 100;
    acts[last]?.push({ kind: 'open', payment: payments.length, at });
    payments.push({ cents, isFixed: false });
  }
  // Their own money, and that of those who had the address before.
  const payers = payments.map((_, payment) => payment);
  for (const own of [payers.slice(before), payers.slice(0, before)]) {
    if (random.chance(35)) continue;
    const transfer = transfers.length;
    const payment = random.pick(own);
    const seenAt = random.chance(50) ? end : Math.min(end, at + 5 * MINUTE);
    transfers.push(sent(seenAt, { transfer, payment, amount: random.pick(PAID) }));
    const finality = random.chance(70) ? 'final' : 'seen';
    reports[last]?.push({ transfer, finality, block: 100 + last });
  }
}

function polledSteps(course: readonly Step[]): number[] {
  const { chain } = CHAINS['btc-test'];
  return course.flatMap(({ watched }, step) => (watched[chain].isPolled ? [step] : []));
}

function sent(
  at: number,
  own: { readonly transfer: number; readonly payment: number; readonly amount: Amount },
): Drawn['transfers'][number] {
  const { transfer, payment, amount } = own;
  const times = { madeAt: at - 1, occurredAt: at, earliestAt: at };
  return { hash: `tx-${transfer}`, position: 0, payment, amount, astray: false, ...times };
}
