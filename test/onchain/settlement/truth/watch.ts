import { pino } from 'pino';
import { chainOf } from '#chains/chain-list.ts';
import type { ObservedTransfer } from '#onchain/settlement/observed-transfer.ts';
import { recordTransfers } from '#onchain/watching/loop/record-transfers.ts';
import type { Watcher } from '#onchain/watching/watcher.ts';
import type { Database } from '#storage/database/connection.ts';
import { transact } from '#storage/database/transaction.ts';

const SILENT = pino({ level: 'silent' });

/** Records transfers like a watcher that holds its chain's lease. */
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
  return recordTransfers(watcher as unknown as Watcher, observed);
}
