import type { Database } from '../database/connection.ts';
import { foldPartnerDeltas } from '../repositories/partner-deltas.ts';
import type { Loop } from './loop.ts';

/** Deltas per statement. */
const BATCH = 5_000;
/** At a thousand payments per second, reports have two thousand unfolded deltas to add. */
const INTERVAL_MS = 2_000;

/** Keeps partner reports fast: folds the deltas of payments into the rollups. */
export function foldPartnerDeltasLoop(db: Database): Loop {
  return {
    name: 'fold-partner-deltas',
    intervalMs: INTERVAL_MS,
    async run(signal) {
      let folded = BATCH;
      while (folded === BATCH && !signal.aborted) folded = await foldPartnerDeltas(db, BATCH);
    },
  };
}
