import { sql } from 'kysely';
import type { Connection } from '../../database/connection.ts';
import type { ChainState } from '../../database/watching-tables.ts';
import { findById } from '../rows.ts';

export const findChain = findById('chains');

/** IDs of the chains that have a node (at most 12). */
export async function listChainsWithNodes(db: Connection): Promise<string[]> {
  const rows = await db
    .selectFrom('chains')
    .select('id')
    .where(({ exists, selectFrom }) =>
      exists(selectFrom('nodes').select('nodes.id').whereRef('nodes.chain', '=', 'chains.id')),
    )
    .orderBy('position')
    .execute();
  return rows.map(({ id }) => id);
}

/**
 * Takes the lease of a chain that is free or has run out by the database's clock. It is a row, and not a lock of
 * a session, so that it works through a pooler; the lease of a holder that died runs out.
 * @returns Its epoch; undefined while another worker holds it.
 */
export async function takeLease(
  db: Connection,
  id: string,
  holder: string,
  milliseconds: number,
): Promise<number | undefined> {
  const row = await db
    .updateTable('chains')
    .set(({ eb }) => ({
      lease_holder: holder,
      lease_epoch: eb('lease_epoch', '+', 1),
      lease_until: fromNow(milliseconds),
    }))
    .where('id', '=', id)
    .where(({ eb, fn, or }) =>
      or([eb('lease_until', 'is', null), eb('lease_until', '<', fn<Date>('now'))]),
    )
    .returning('lease_epoch')
    .executeTakeFirst();
  return row?.lease_epoch;
}

/** Extends a lease; false if another holder has taken it. */
export async function extendLease(
  db: Connection,
  id: string,
  epoch: number,
  milliseconds: number,
): Promise<boolean> {
  const { numUpdatedRows } = await db
    .updateTable('chains')
    .set({ lease_until: fromNow(milliseconds) })
    .where('id', '=', id)
    .where('lease_epoch', '=', epoch)
    .executeTakeFirst();
  return numUpdatedRows > 0n;
}

/** Ends a lease, so that another worker can take it at once. */
export async function giveBackLease(db: Connection, id: string, epoch: number): Promise<void> {
  await db
    .updateTable('chains')
    .set({ lease_holder: null, lease_until: null })
    .where('id', '=', id)
    .where('lease_epoch', '=', epoch)
    .execute();
}

/** The builder has no intervals. */
function fromNow(milliseconds: number) {
  return sql<Date>`now() + ${milliseconds} * interval '1 millisecond'`;
}

/**
 * Locks a chain's row until the transaction ends, if the epoch is still that of the holder. Every write
 * of a watcher begins with it: one that has lost its lease, without knowing it, writes nothing.
 * @param shared Whether other transactions of the holder may run beside this one, which then does not
 * change the chain's row.
 */
export function lockChain(
  db: Connection,
  id: string,
  epoch: number,
  shared = false,
): Promise<ChainState | undefined> {
  const query = db
    .selectFrom('chains')
    .selectAll()
    .where('id', '=', id)
    .where('lease_epoch', '=', epoch);
  return (shared ? query.forShare() : query.forUpdate()).executeTakeFirst();
}

export type ChainProgress = Partial<
  Pick<
    ChainState,
    | 'cursor_height'
    | 'cursor_hash'
    | 'head_height'
    | 'final_height'
    | 'swept_height'
    | 'polled_at'
    | 'watched_until'
    | 'expires_until'
    | 'halted'
  >
>;

/** Updates how far a chain has been read. */
export async function updateChain(
  db: Connection,
  id: string,
  progress: ChainProgress,
): Promise<void> {
  await db.updateTable('chains').set(progress).where('id', '=', id).execute();
}

/** Height of the newest block of each network's chain, where a node has shown one. */
export async function findChainHeights(db: Connection): Promise<Map<string, number>> {
  const rows = await db
    .selectFrom('networks')
    .innerJoin('chains', 'chains.id', 'networks.chain')
    .select(['networks.id', 'chains.head_height'])
    .where('chains.head_height', 'is not', null)
    .execute();
  return new Map(rows.map(({ id, head_height: height }) => [id, height ?? 0]));
}
