import { pino } from 'pino';
import { chainOf } from '../../../src/chains/chain-list.ts';
import type { Database } from '../../../src/database/connection.ts';
import { transact } from '../../../src/database/transaction.ts';
import type { ObservedTransfer } from '../../../src/settlement/observed-transfer.ts';
import { record } from '../../../src/watching/loop/record.ts';
import type { Watcher } from '../../../src/watching/watcher.ts';

const SILENT = pino({ level: 'silent' });

/** Records transfers as a watcher does that holds its chain's lease. */
export function reportTogether(
  db: Database,
  observed: readonly ObservedTransfer[],
  at: number,
): Promise<void> {
  const watcher = {
    chain: chainOf('eth-test'),
    db,
    clock: () => at,
    log: SILENT,
    lease: { writeBeside: (work: Parameters<typeof transact>[1]) => transact(db, work) },
  };
  return record(watcher as unknown as Watcher, observed);
}
