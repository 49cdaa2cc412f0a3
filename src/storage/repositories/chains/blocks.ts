import type { Connection } from '../../database/connection.ts';
import type { ChainBlock } from '../../database/watching-tables.ts';
import { findWhere, listBy } from '../rows.ts';

/** The ring of a chain, newest first: the last block of each recorded range. */
export const listRing = listBy('chain_blocks', 'chain', ['height desc'], 5_000);

/** The entry of the ring at a height. */
export const findRingEntry = findWhere('chain_blocks', 'chain', 'height');

/** Adds the last block of a recorded range. */
export async function addToRing(db: Connection, block: ChainBlock): Promise<void> {
  await db
    .insertInto('chain_blocks')
    .values(block)
    .onConflict(conflict =>
      conflict
        .columns(['chain', 'height'])
        .doUpdateSet(({ ref }) => ({ hash: ref('excluded.hash'), at: ref('excluded.at') })),
    )
    .execute();
}

/**
 * Deletes blocks that are older than the newest `keep`, and older than the newest final one, where a branch may
 * begin.
 */
export async function trimRing(
  db: Connection,
  chain: string,
  keep: number,
  finalHeight: number | null,
): Promise<void> {
  const ring = db.selectFrom('chain_blocks').where('chain', '=', chain);
  const oldestKept = ring
    .select('height')
    .orderBy('height', 'desc')
    .offset(keep - 1)
    .limit(1);
  let query = db
    .deleteFrom('chain_blocks')
    .where('chain', '=', chain)
    .where('height', '<', oldestKept);
  if (finalHeight !== null) {
    const newestFinal = ring
      .select(({ fn }) => fn.max('height').as('height'))
      .where('height', '<=', finalHeight);
    query = query.where('height', '<', newestFinal);
  }
  await query.execute();
}

/** Deletes the blocks above a height. */
export async function cutRing(db: Connection, chain: string, height: number): Promise<void> {
  await db
    .deleteFrom('chain_blocks')
    .where('chain', '=', chain)
    .where('height', '>', height)
    .execute();
}
