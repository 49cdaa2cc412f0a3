import type { Insertable } from 'kysely';
import type { Connection } from '../../database/connection.ts';
import type {
  BookedDeposit,
  BookedReturn,
  BookedReturnsTable,
} from '../../database/deposit-tables.ts';

/** The entry of a final deposit that settled no payment in a merchant's books; undefined if there is none. */
export function findBookedDeposit(
  db: Connection,
  depositId: string,
): Promise<BookedDeposit | undefined> {
  return db
    .selectFrom('booked_deposits')
    .selectAll()
    .where('deposit_id', '=', depositId)
    .executeTakeFirst();
}

export async function insertReturn(
  db: Connection,
  row: Insertable<BookedReturnsTable>,
): Promise<BookedReturn> {
  return db.insertInto('booked_returns').values(row).returningAll().executeTakeFirstOrThrow();
}

/** How partial deposits of payments were returned, by the deposits' IDs. */
export async function findReturns(
  db: Connection,
  depositIds: readonly string[],
): Promise<Map<string, BookedReturn>> {
  const rows = await db
    .selectFrom('booked_returns')
    .selectAll()
    .where(({ eb, fn, val }) => eb('deposit_id', '=', fn.any(val(depositIds))))
    .execute();
  return new Map(rows.map(row => [row.deposit_id, row]));
}
