import { createRandom, type Random } from '../../settlement/truth/random.ts';
import { addressOf } from '../../settlement/truth/stage.ts';
import type { ChainStep } from './course.ts';
import type { Slot } from './slots.ts';
import type { Act, Amount, Fate, World } from './world.ts';

/** A wallet of the merchant, of which each payment gets an address of its own as long as there are any. */
export interface Wallet {
  /** In the order of their indices. */
  readonly addresses: readonly string[];
  /** Whether two branches of the merchant have it; the second one has every second payment. */
  readonly isShared: boolean;
}

const SECOND = 1_000;
/** Few enough that payments sometimes share one, and enough that they do not. */
const SIZES = [1, 2, 2, 3, 3, 6, 12];
/** What customers send who pay in parts: most of these add up to what is due. */
const PARTS: readonly (readonly Amount[])[] = [
  ['half', 'rest'],
  ['half', 'half'],
  ['third', 'third', 'third'],
  ['third', 'half', 'third'],
  ['half', 'dust', 'tolerated'],
  ['third', 'third'],
];
const FATES: readonly Fate[] = [
  ...Array<Fate>(8).fill('plain'),
  ...(['dropped', 'double spent', 'double spent', 'sent again'] as const),
];
/** Pauses between parts, in seconds. */
const PAUSES = [3, 20, 60, 120, 400, 900];

/** The wallet of a Bitcoin chain; null for most, and by a stream of its own, so that it changes no other draw. */
export function drawWallet(seed: number, { chain, family }: Slot): Wallet | null {
  const random = createRandom('wallet', seed);
  if (family !== 'bitcoin' || !random.chance(40)) return null;
  const prefix = chain === 'btc' ? 'bc' : 'tb';
  return {
    addresses: Array.from({ length: random.pick(SIZES) }, (_, index) =>
      addressOf(seed, index, prefix),
    ),
    isShared: random.chance(50),
  };
}

/**
 * The acts of a chain with a wallet: some customers pay in parts instead of at once.
 * @param last When the last customer pays, in milliseconds since the epoch.
 */
export function drawParts(
  { seed, payments, acts, omission }: Pick<World, 'seed' | 'payments' | 'acts' | 'omission'>,
  last: ChainStep['at'],
): Act[] {
  const random = createRandom('parts', seed);
  const inParts = new Set([...payments.keys()].filter(() => random.chance(50)));
  const kept = acts.filter(
    act => act.kind !== 'pay' || act === omission?.act || !inParts.has(act.payment),
  );
  const parts = [...inParts].flatMap(payment => partsOf(random, payment, acts, last));
  return [...kept, ...parts].toSorted((a, b) => a.at - b.at);
}

function partsOf(random: Random, payment: number, acts: readonly Act[], last: number): Act[] {
  let at = acts.find(act => act.kind === 'choose' && act.payment === payment)?.at ?? last;
  return random.pick(PARTS).map((amount): Act => {
    at = Math.min(at + random.pick(PAUSES) * SECOND + random.below(900), last);
    return { kind: 'pay', payment, at, amount, fate: random.pick(FATES), names: null };
  });
}
