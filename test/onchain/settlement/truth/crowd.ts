import { CHAINS, type NetworkId, type Step } from './course.ts';
import type { Act, Amount, Report } from './history.ts';
import { createRandom } from './random.ts';
import type { Drawn } from './transfers.ts';

/** Percentage of histories that have a crowd. */
const CROWDS_PERCENT = 3;
/** What the crowd sends: a payment takes one transfer of too little, and one of enough. */
const AMOUNTS: readonly Amount[] = ['half', 'half', 'half', 'most', 'bit over', 'exact'];
const SENT = 3;
/** How much else may happen at the same step: few enough to try all orders. */
const BESIDE_MAXIMUM = 1;

/**
 * Lets several transfers of inexact amounts arrive at one payment's address at the same moment, each reported on its
 * own connection; an operator may assign another one at the same time.
 * @param opened When each payment was opened, in milliseconds since the epoch.
 * @returns The step at which they arrive; null in most histories.
 */
export function drawCrowd(
  seed: number,
  setting: {
    readonly course: readonly Step[];
    readonly network: NetworkId;
    opened: readonly number[];
  },
  { transfers, reports }: Drawn,
  acts: readonly Act[][],
): number | null {
  const random = createRandom('crowd', seed);
  if (!random.chance(CROWDS_PERCENT)) return null;
  const { course, network, opened } = setting;
  const payment = random.below(opened.length);
  const polled = course.flatMap(({ watched }, step) =>
    watched[CHAINS[network].chain].isPolled ? [step] : [],
  );
  const isQuiet = (step: number) =>
    (reports[step]?.length ?? 0) + (acts[step]?.length ?? 0) <= BESIDE_MAXIMUM;
  const steps = polled.filter(
    (step, place) =>
      place > 0 &&
      step < course.length - 2 &&
      (course[polled[place - 1] ?? 0]?.at ?? 0) > (opened[payment] ?? 0) &&
      isQuiet(step),
  );
  // Early, while the payment is open.
  const [step] = steps;
  if (step === undefined) return null;
  const before = polled[polled.indexOf(step) - 1] ?? 0;
  const after = polled[polled.indexOf(step) + 1] ?? step;

  const send = (amount: Amount, from: number, until: number): number => {
    const at = course[from]?.at ?? 0;
    const transfer = transfers.length;
    transfers.push({
      hash: `tx-${transfer}`,
      position: 0,
      payment,
      amount,
      astray: false,
      madeAt: at - 1,
      occurredAt: at,
      earliestAt: at,
    });
    const tell = (finality: Report['finality'], where: number) =>
      reports[where]?.push({ transfer, finality, block: 100 + where });
    tell('seen', from);
    tell('final', until);
    return transfer;
  };

  const isAssigned = random.chance(40);
  if (isAssigned) {
    const transfer = send('too much', before, after);
    acts[step]?.push({ kind: 'assign', transfer, payment, at: (course[step]?.at ?? 0) - 1 });
  }
  for (let count = 0; count < SENT; count++) send(random.pick(AMOUNTS), step, after);
  return step;
}
