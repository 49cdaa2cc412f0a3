import type { Arrival } from '#chains/adapter.ts';
import type { Connection } from '#storage/database/connection.ts';
import { addDust } from '#storage/repositories/deposits/dust.ts';
import { utcDay } from '#time/days.ts';
import { dustTransfers } from '../metrics.ts';
import type { Watcher } from '../watcher.ts';

/** Counts dust. Call it in the transaction after which its blocks are not read again. */
export async function countDust(
  { clock }: Pick<Watcher, 'clock'>,
  tx: Connection,
  dust: readonly Arrival[],
): Promise<void> {
  await addDust(tx, dust, utcDay(new Date(clock())));
  for (const { blockchainId } of dust) dustTransfers.inc({ blockchain_id: blockchainId });
}
