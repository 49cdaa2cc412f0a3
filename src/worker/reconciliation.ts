import { type AuditDependencies, reconcileDays } from '#onchain/watching/audit/reconciliation.ts';
import type { Loop } from './loop.ts';

const INTERVAL_MS = 60_000;

/** Compares yesterday's blocks with the ledger, at a quiet hour. */
export function reconciliationLoop(dependencies: AuditDependencies): Loop {
  return {
    name: 'reconciliation',
    intervalMs: INTERVAL_MS,
    async run(signal, beat) {
      while (!signal.aborted && (await reconcileDays(dependencies, signal))) beat();
    },
  };
}
