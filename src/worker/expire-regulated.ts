import { expireRegulated, type RegulatedExpiry } from '../processors/expire-regulated.ts';
import type { DueRegulatedPayment } from '../repositories/regulated-payments.ts';
import type { Clock } from '../time/clock.ts';
import type { Loop } from './loop.ts';

/** Payments the processor is asked about at the same time: far below what it allows in a second. */
const BATCH = 10;
/** A payment ends within seconds of its time; one the processor does not tell of is asked for again. */
const INTERVAL_MS = 5_000;

/** Ends payments on US accounts on time, unless their processor says that they are paid. */
export function expireRegulatedLoop(dependencies: RegulatedExpiry, clock: Clock): Loop {
  return {
    name: 'expire-regulated',
    intervalMs: INTERVAL_MS,
    async run(signal) {
      let last: DueRegulatedPayment | undefined;
      do {
        last = await expireRegulated(dependencies, last, new Date(clock()), BATCH);
      } while (last !== undefined && !signal.aborted);
    },
  };
}
