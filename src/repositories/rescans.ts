import type { Connection } from '../database/connection.ts';
import type { Rescan } from '../database/watching-tables.ts';

/** Queues blocks of a network's chain, both ends included, to be scanned again. */
export function addRescan(
  db: Connection,
  rescan: {
    readonly blockchainId: string;
    readonly from: number;
    readonly to: number;
    readonly askedBy: string;
  },
  now: Date,
): Promise<Rescan> {
  return db
    .insertInto('rescans')
    .values({
      blockchain_id: rescan.blockchainId,
      from_height: rescan.from,
      to_height: rescan.to,
      next_height: rescan.from,
      asked_by: rescan.askedBy,
      asked_at: now,
      done_at: null,
    })
    .returningAll()
    .executeTakeFirstOrThrow();
}

/** The oldest rescan of a chain that is not done. */
export function findOpenRescan(db: Connection, chain: string): Promise<Rescan | undefined> {
  return db
    .selectFrom('rescans')
    .innerJoin('networks', 'networks.id', 'rescans.blockchain_id')
    .selectAll('rescans')
    .where('networks.chain', '=', chain)
    .where('done_at', 'is', null)
    .orderBy('rescans.id')
    .limit(1)
    .executeTakeFirst();
}

/** Records how far a rescan has come. */
export async function advanceRescan(
  db: Connection,
  id: number,
  next: { readonly height: number; readonly doneAt: Date | null },
): Promise<void> {
  await db
    .updateTable('rescans')
    .set({ next_height: next.height, done_at: next.doneAt })
    .where('id', '=', id)
    .execute();
}
