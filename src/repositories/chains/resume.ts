import type { Connection } from '../../database/connection.ts';
import type { ChainState } from '../../database/watching-tables.ts';
import { cutRing } from './blocks.ts';
import { cutBalances } from './native-balances.ts';

/**
 * Resumes the watching of a chain: the next tick accepts the block that the node has at the cursor. The lease is
 * taken away, so that a tick that is running can write nothing more.
 * @param from First block to scan, more than 0; what is recorded of it and of later ones is deleted.
 * null continues after the last block that was scanned.
 */
export async function resumeChain(
  db: Connection,
  chain: string,
  from: number | null,
): Promise<ChainState | undefined> {
  const cursor = from === null ? null : from - 1;
  if (cursor !== null) {
    await cutRing(db, chain, cursor);
    await cutBalances(db, chain, cursor);
  }
  return db
    .updateTable('chains')
    .set(({ eb }) => ({
      halted: null,
      // The cursor has a height and a hash, or neither.
      cursor_hash:
        cursor === null
          ? eb.case().when('cursor_height', 'is', null).then(null).else('').end()
          : '',
      ...(cursor === null ? {} : { cursor_height: cursor, swept_height: cursor, polled_at: null }),
      lease_holder: null,
      lease_until: null,
      lease_epoch: eb('lease_epoch', '+', 1),
    }))
    .where('id', '=', chain)
    .returningAll()
    .executeTakeFirst();
}
