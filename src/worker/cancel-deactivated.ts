import type { BaseLogger } from 'pino';
import { cancelDeactivated } from '#payments/cancel-deactivated.ts';
import type { Database } from '#storage/database/connection.ts';
import type { Clock } from '#time/clock.ts';
import { batchLoop } from './batch-loop.ts';
import type { Loop } from './loop.ts';

/** Payments per transaction: few enough that locks are short. */
const BATCH = 50;
/** How long a customer may still be asked to pay a merchant that was deactivated. */
const INTERVAL_MS = 5_000;

/** Cancels open on-chain payments of merchants that were deactivated. */
export function cancelDeactivatedLoop(
  db: Database,
  clock: Clock,
  log: Pick<BaseLogger, 'warn'>,
): Loop {
  const options = { name: 'cancel-deactivated', intervalMs: INTERVAL_MS, size: BATCH };
  return batchLoop(options, () => cancelDeactivated(db, new Date(clock()), BATCH, log));
}
