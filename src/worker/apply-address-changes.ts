import { applyDueChanges } from '#accounts/apply-changes.ts';
import type { Database } from '#storage/database/connection.ts';
import type { Clock } from '#time/clock.ts';
import { batchLoop } from './batch-loop.ts';
import type { Loop } from './loop.ts';

/** Changes of a run; each has a transaction of its own. */
const BATCH = 50;
/** How late a change may hold, compared with hours that it has waited. */
const INTERVAL_MS = 5_000;

/** Applies changes of where money goes whose time has come. */
export function applyAddressChangesLoop(db: Database, clock: Clock): Loop {
  const options = { name: 'apply-address-changes', intervalMs: INTERVAL_MS, size: BATCH };
  return batchLoop(options, () => applyDueChanges(db, clock, BATCH));
}
