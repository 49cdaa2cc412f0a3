import type { Database } from '../database/connection.ts';
import { wipePreviousWebhookSecrets } from '../repositories/webhook-endpoints.ts';
import { removeDeadDeliveryJobs, restoreDeliveryJobs } from '../repositories/webhook-jobs.ts';
import type { Clock } from '../time/clock.ts';
import type { Loop } from './loop.ts';

/** Rows per statement: few enough that locks are short. */
const BATCH = 1_000;
const INTERVAL_MS = 15_000;
/** A delivery this late, in milliseconds, may have lost its job; a busy queue is late, too. */
const OVERDUE_MS = 60_000;

/**
 * Restores the jobs of deliveries whose worker died or whose job was lost; the queue itself would
 * wait four hours. Also wipes rotated secrets after their grace period.
 */
export function recoverWebhooksLoop(db: Database, clock: Clock): Loop {
  return {
    name: 'recover-webhooks',
    intervalMs: INTERVAL_MS,
    async run(signal) {
      let restored = BATCH;
      while (restored === BATCH && !signal.aborted) {
        const now = new Date(clock());
        const before = new Date(now.getTime() - OVERDUE_MS);
        restored = await restoreDeliveryJobs(db, { now, before, limit: BATCH });
      }
      await removeDeadDeliveryJobs(db, BATCH);
      await wipePreviousWebhookSecrets(db, new Date(clock()), BATCH);
    },
  };
}
