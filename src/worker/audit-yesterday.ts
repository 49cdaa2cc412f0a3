import { type AuditDependencies, auditYesterday } from '../watching/audit/audit-yesterday.ts';
import type { Loop } from './loop.ts';

const INTERVAL_MS = 60_000;

/** Holds yesterday's blocks against the ledger, at a quiet hour. */
export function auditYesterdayLoop(dependencies: AuditDependencies): Loop {
  return {
    name: 'audit-yesterday',
    intervalMs: INTERVAL_MS,
    async run(signal, beat) {
      while (!signal.aborted && (await auditYesterday(dependencies, signal))) beat();
    },
  };
}
