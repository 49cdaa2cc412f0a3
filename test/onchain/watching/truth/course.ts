import { createRandom } from '../../settlement/truth/random.ts';
import { CHAIN_GROUP } from './slots.ts';

const SECOND = 1_000;
const MINUTE = 60 * SECOND;

/** A whole second, and a Monday. */
export const START = Date.UTC(2026, 4, 18, 12);

/** Pauses between two rounds of watchers, in seconds: regular polls, and outages. */
const PAUSES = [4, 8, 8, 15, 15, 25, 25, 40, 40, 55, 55, 59, 61, 90, 150, 300, 720, 1_860, 3_700];
/**
 * Pauses of the rounds at the end. They outlast every window, even that of a rest that is asked for after an amount
 * was corrected, and the two hours after which a transaction in no mempool counts as gone.
 */
const END_PAUSES = Array<number>(12).fill(70 * MINUTE);
export const END_ROUNDS = END_PAUSES.length;

/** What the worker does after the rounds of the watchers. */
export type Sweep = 'expire' | 'lapse';

/** A moment at which the watchers of all chains have a round. */
export interface ChainStep {
  /** In milliseconds since the epoch. */
  readonly at: number;
  readonly sweeps: readonly Sweep[];
  /** Whether it is one of the steps at the end, at which nothing goes wrong any more. */
  readonly isEnd: boolean;
}

let drawn: { readonly group: number; readonly steps: readonly ChainStep[] } | undefined;

/** The steps that chains of a seed's group have in common. */
export function chainCourseOf(seed: number): readonly ChainStep[] {
  const group = Math.floor(seed / CHAIN_GROUP);
  if (drawn?.group !== group) drawn = { group, steps: drawCourse(group) };
  return drawn.steps;
}

function drawCourse(group: number): readonly ChainStep[] {
  const random = createRandom('chain course', group);
  const steps: ChainStep[] = [];
  let at = START;
  const count = 8 + random.below(4);
  for (let index = 0; index < count; index++) {
    at += random.pick(PAUSES) * SECOND;
    const sweeps = (['expire', 'lapse'] as const).filter(() => random.chance(80));
    steps.push({ at, sweeps, isEnd: false });
  }
  for (const pause of END_PAUSES) {
    at += pause;
    steps.push({ at, sweeps: ['expire', 'lapse'], isEnd: true });
  }
  return steps;
}
