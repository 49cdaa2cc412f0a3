import type { Database } from '#storage/database/connection.ts';
import { foldPartnerDeltas } from '#storage/repositories/partners/deltas.ts';
import { batchLoop } from './batch-loop.ts';
import type { Loop } from './loop.ts';

/** Deltas per statement. */
const BATCH = 5_000;
/** At a thousand payments per second, reports then add two thousand deltas that are not folded yet. */
const INTERVAL_MS = 2_000;
/** When such a load begins after a quiet time, they add ten thousand at first. */
const IDLE_INTERVAL_MS = 10_000;

/** Keeps partner reports fast: folds the deltas of payments into the rollups. */
export function foldPartnerDeltasLoop(db: Database): Loop {
  const pauses = { intervalMs: INTERVAL_MS, idleMs: IDLE_INTERVAL_MS };
  return batchLoop({ name: 'fold-partner-deltas', ...pauses, size: BATCH }, () =>
    foldPartnerDeltas(db, BATCH),
  );
}
