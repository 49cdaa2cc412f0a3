import type { Database } from '../database/connection.ts';
import { foldPartnerDeltas } from '../repositories/partner-deltas.ts';
import type { Loop } from './loop.ts';

/** Deltas folded in one statement. */
const BATCH = 5_000;
/** At a thousand payments a second this leaves reports two thousand deltas to add by themselves. */
const INTERVAL_MS = 2_000;

/** Keeps partner reports fast: moves what payments have recorded into the rollups they read. */
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
