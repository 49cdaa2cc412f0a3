import { type FollowUp, followUp, hastenCancelling } from '#payments/processors/follow-up.ts';
import type { Clock } from '#time/clock.ts';
import type { Loop } from './loop.ts';

/** Concurrent requests to the processor: far below its rate limit per second. */
const BATCH = 10;
/** Payments of deactivated merchants whose next inquiry a run brings forward. */
const HASTENED = 100;
/** Short enough that a payment expires within seconds of its time. */
const INTERVAL_MS = 5_000;

/** Asks the processor about payments on US accounts until each has ended. */
export function followUpRegulatedLoop(dependencies: FollowUp, clock: Clock): Loop {
  return {
    name: 'follow-up-regulated',
    intervalMs: INTERVAL_MS,
    async run(signal) {
      let more = true;
      while (more && !signal.aborted) {
        more = await followUp(dependencies, new Date(clock()), BATCH);
      }
      // The next run makes the inquiries that this one brings forward.
      if (!signal.aborted) await hastenCancelling(dependencies, new Date(clock()), HASTENED);
    },
  };
}
