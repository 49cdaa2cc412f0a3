import { tellOfExpiringKeys } from '#accounts/keys/expiring-keys.ts';
import { tellOfUnmatched } from '#onchain/settlement/unmatched-digest.ts';
import { tellOfFailingEndpoints } from '#payments/webhooks/failing-endpoints.ts';
import type { Database } from '#storage/database/connection.ts';
import type { Clock } from '#time/clock.ts';
import type { Loop } from './loop.ts';

const INTERVAL_MS = 120_000;

const FINDERS = [tellOfExpiringKeys, tellOfFailingEndpoints, tellOfUnmatched];

/** Writes mail about what no change causes: that time passes, and that something stays as it is. */
export function findNoticesLoop(db: Database, clock: Clock): Loop {
  return {
    name: 'find-notices',
    intervalMs: INTERVAL_MS,
    async run(signal, beat) {
      const failures: unknown[] = [];
      for (const find of FINDERS) {
        // One that fails must not keep the others from running.
        await find(db, new Date(clock()), signal).then(beat, error => void failures.push(error));
      }
      if (failures.length > 0) {
        throw new AggregateError(failures, `${failures.length} kinds of notices were not found`);
      }
    },
  };
}
