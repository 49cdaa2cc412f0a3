import { sql } from 'kysely';
import type { Connection } from '../../database/connection.ts';
import type { Rescan } from '../../database/watching-tables.ts';

/** Blocks of a network's chain, both ends included. */
interface NewRescan {
  readonly blockchainId: string;
  readonly from: number;
  readonly to: number;
  readonly askedBy: string;
}

/** Queues blocks to be scanned again. */
export function addRescan(db: Connection, rescan: NewRescan, now: Date): Promise<Rescan> {
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

/** How long a block that customers ask about is not scanned again. */
const ONCE_IN_HOURS = 1;

/**
 * Queues blocks like `addRescan`, unless they are queued already or have been scanned again within the
 * last hour.
 * @returns Whether they were queued.
 */
export async function addRescanOnce(
  db: Connection,
  { blockchainId, from, to, askedBy }: NewRescan,
  now: Date,
): Promise<boolean> {
  const { numAffectedRows } = await sql`
    insert into rescans (blockchain_id, from_height, to_height, next_height, asked_by, asked_at)
    select ${blockchainId}, ${from}::bigint, ${to}::bigint, ${from}::bigint, ${askedBy}, ${now}
    where not exists (
      select from rescans
      where blockchain_id = ${blockchainId} and from_height <= ${from} and to_height >= ${to}
        and (done_at is null or done_at > ${now}::timestamptz - ${ONCE_IN_HOURS} * interval '1 hour'))`.execute(
    db,
  );
  return (numAffectedRows ?? 0n) > 0n;
}

/** The oldest rescan of a chain that is not done, except for some. */
export function findOpenRescan(
  db: Connection,
  chain: string,
  except: readonly Rescan['id'][] = [],
): Promise<Rescan | undefined> {
  return db
    .selectFrom('rescans')
    .innerJoin('networks', 'networks.id', 'rescans.blockchain_id')
    .selectAll('rescans')
    .where('networks.chain', '=', chain)
    .where('done_at', 'is', null)
    .where(sql<boolean>`rescans.id <> all(${except}::bigint[])`)
    .orderBy('rescans.id')
    .limit(1)
    .executeTakeFirst();
}

/** Rescans that are not done, oldest first. */
export function listOpenRescans(db: Connection, limit: number): Promise<Rescan[]> {
  return db
    .selectFrom('rescans')
    .selectAll()
    .where('done_at', 'is', null)
    .orderBy('id')
    .limit(limit)
    .execute();
}

/** Records the progress of a rescan. */
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
