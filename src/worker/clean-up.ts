import type { Connection, Database } from '../database/connection.ts';
import { wipePreviousSecrets } from '../repositories/api-keys.ts';
import { deleteExpiredResponses } from '../repositories/idempotency-keys.ts';
import { deleteExpiredNonces } from '../repositories/nonces.ts';
import { wipePreviousWebhookSecrets } from '../repositories/webhook-endpoints.ts';
import type { Clock } from '../time/clock.ts';
import type { Loop } from './loop.ts';

/** Rows per statement: few enough that locks are short. */
const BATCH = 1_000;
const INTERVAL_MS = 30_000;

type Removal = (db: Connection, now: Date, limit: number) => Promise<number>;

const REMOVALS: readonly Removal[] = [
  deleteExpiredNonces,
  deleteExpiredResponses,
  wipePreviousSecrets,
  wipePreviousWebhookSecrets,
];

/** Deletes expired nonces and stored responses; wipes rotated secrets after their grace period. */
export function cleanUpLoop(db: Database, clock: Clock): Loop {
  return {
    name: 'clean-up',
    intervalMs: INTERVAL_MS,
    async run(signal) {
      const failures: unknown[] = [];
      for (const remove of REMOVALS) {
        // One that fails must not keep the others from what they remove.
        await workOff(remove, signal).catch(error => void failures.push(error));
      }
      if (failures.length > 0) {
        throw new AggregateError(failures, `${failures.length} kinds of rows were not removed`);
      }
    },
  };

  async function workOff(remove: Removal, signal: AbortSignal): Promise<void> {
    let removed = BATCH;
    while (removed === BATCH && !signal.aborted) {
      removed = await remove(db, new Date(clock()), BATCH);
    }
  }
}
