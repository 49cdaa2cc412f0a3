import type { Database } from '../database/connection.ts';
import { deleteOldEvents } from '../repositories/retention.ts';
import type { Clock } from '../time/clock.ts';
import { batchLoop } from './batch-loop.ts';
import type { Loop } from './loop.ts';

const DAY_MS = 24 * 60 * 60_000;
/** Events per statement: few enough that locks are short. */
const BATCH = 500;
/** A minute's events of a busy service are some batches. */
const INTERVAL_MS = 60_000;

/**
 * Removes events, webhook deliveries and attempts that are older than so many days. A loop of its own:
 * the first run on an old database may take hours.
 */
export function removeOldEventsLoop(db: Database, clock: Clock, retentionDays: number): Loop {
  const options = { name: 'remove-old-events', intervalMs: INTERVAL_MS, size: BATCH };
  return batchLoop(options, () =>
    deleteOldEvents(db, new Date(clock() - retentionDays * DAY_MS), BATCH),
  );
}
