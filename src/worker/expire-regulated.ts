import { expireRegulated, type RegulatedExpiry } from '../processors/expire-regulated.ts';
import type { DueRegulatedPayment } from '../repositories/regulated-payments.ts';
import type { Clock } from '../time/clock.ts';
import type { Loop } from './loop.ts';

/** Concurrent requests to the processor: far below its rate limit per second. */
const BATCH = 10;
/** Also the retry interval for payments that the processor did not answer for. */
const INTERVAL_MS = 5_000;

/** Expires payments on US accounts, unless the processor reports that they are paid. */
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
