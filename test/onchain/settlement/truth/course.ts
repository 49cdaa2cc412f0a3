import { createRandom } from './random.ts';

/** Histories that run side by side, and therefore share the times at which watchers and workers run. */
export const GROUP = 128;

const SECOND = 1_000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;

/** A whole millisecond, and a Monday. */
export const START = Date.UTC(2026, 4, 18, 12);

/** Pauses between two steps: shorter and longer than a minute, a quote's window, and a day. */
const PAUSES = [5, 15, 30, 50, 50, 120, 180, 300, 540, 960]
  .map(seconds => seconds * SECOND)
  .concat([5, 31, 61, 300, 1500].map(minutes => minutes * MINUTE));
/** How far a working watcher may lag behind the clock. */
const LAGS = [0, 0, 0, 10 * SECOND, 45 * SECOND, 150 * SECOND];

/** The networks that histories are played on. Chains of the first four are watched, the last is simulated. */
export const NETWORKS = [
  'eth-usdc-test',
  'eth-test',
  'btc-test',
  'tron-usdt-test',
  'sol-usdc-dev',
] as const;
export type NetworkId = (typeof NETWORKS)[number];
/** The chains of these networks, with the maximum difference of their block clocks from ours, in milliseconds. */
export const CHAINS = {
  'eth-usdc-test': { chain: 'eth-test', skewMs: 2 * SECOND, offeredLagMs: 3 * MINUTE },
  'eth-test': { chain: 'eth-test', skewMs: 2 * SECOND, offeredLagMs: 3 * MINUTE },
  'btc-test': { chain: 'btc-test', skewMs: 2 * HOUR, offeredLagMs: 2 * MINUTE },
  'tron-usdt-test': { chain: 'tron-test', skewMs: 2 * SECOND, offeredLagMs: 2 * MINUTE },
  'sol-usdc-dev': { chain: 'sol-dev', skewMs: 0, offeredLagMs: Number.POSITIVE_INFINITY },
} as const satisfies Record<NetworkId, object>;
type ChainName = (typeof CHAINS)[NetworkId]['chain'];
export const SIMULATED: ChainName = 'sol-dev';
const CHAIN_NAMES: readonly ChainName[] = ['eth-test', 'btc-test', 'tron-test', 'sol-dev'];

/** How far a chain has been scanned at a step. */
export interface Watched {
  /** Whether its nodes respond; otherwise nothing is reported at this step. */
  readonly isPolled: boolean;
  /** Up to when it has been scanned before this step, as a customer who chooses a network finds it. */
  readonly before: number;
  /** Up to when all transfers are reported after this step, in milliseconds since the epoch. */
  readonly until: number;
}

/** What the worker does after the reports of a step. */
export type Sweep = 'expire' | 'lapse' | 'deactivated';

/** A moment at which transfers are reported and the worker sweeps. */
export interface Step {
  /** In milliseconds since the epoch. */
  readonly at: number;
  readonly watched: Readonly<Record<ChainName, Watched>>;
  readonly sweeps: readonly Sweep[];
  /** Payments per transaction of a sweep. */
  readonly limit: number;
  /** Whether two workers sweep concurrently. */
  readonly isDouble: boolean;
  /** After how many statements the sweeping worker dies, and another one continues; 0 for never. */
  readonly dieAfter: number;
}

let drawn: { readonly group: number; readonly steps: readonly Step[] } | undefined;

/** The steps that the histories of a seed's group have in common. */
export function courseOf(seed: number): readonly Step[] {
  const group = Math.floor(seed / GROUP);
  if (drawn?.group !== group) drawn = { group, steps: drawCourse(group) };
  return drawn.steps;
}

function drawCourse(group: number): readonly Step[] {
  const random = createRandom('course', group);
  const count = 7 + random.below(4);
  const steps: Step[] = [];
  let at = START;
  let isDown = false;
  const until = new Map<ChainName, number>(CHAIN_NAMES.map(chain => [chain, START]));
  for (let index = 0; index < count + 2; index++) {
    // In the end everything is scanned, and every window is over, even an extended one.
    const isEnd = index >= count;
    at += isEnd ? 26 * HOUR : random.pick(PAUSES);
    isDown = !isEnd && random.chance(isDown ? 60 : 20);
    const watch = (chain: ChainName): Watched => {
      const isPolled = isEnd || chain === SIMULATED || !(isDown && random.chance(60));
      const lag = isEnd || chain === SIMULATED ? 0 : random.pick(LAGS);
      const reached = Math.max(until.get(chain) ?? 0, isPolled ? at - lag : 0);
      // The watcher also polls between two steps of the course.
      const wasPolled = steps.at(-1)?.watched[chain].isPolled ?? true;
      const before = isPolled && wasPolled ? at : (until.get(chain) ?? 0);
      until.set(chain, reached);
      return { isPolled, before, until: reached };
    };
    const order: readonly Sweep[] = random.chance(50)
      ? ['expire', 'lapse', 'deactivated']
      : ['deactivated', 'lapse', 'expire'];
    steps.push({
      at,
      watched: {
        'eth-test': watch('eth-test'),
        'btc-test': watch('btc-test'),
        'tron-test': watch('tron-test'),
        'sol-dev': watch('sol-dev'),
      },
      sweeps: order.filter(() => isEnd || random.chance(75)),
      limit: random.pick([10, 50]),
      isDouble: random.chance(30),
      dieAfter: random.chance(20) ? 1 + random.below(12) : 0,
    });
  }
  return steps;
}
