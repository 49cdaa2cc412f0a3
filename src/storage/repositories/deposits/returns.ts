import type { Insertable } from 'kysely';
import type { Connection } from '../../database/connection.ts';
import type { BookedReturn, BookedReturnsTable } from '../../database/deposit-tables.ts';
import { findBy } from '../rows.ts';

/** The entry of a final deposit that settled no payment in a merchant's books; undefined if there is none. */
export const findBookedDeposit = findBy('booked_deposits', 'deposit_id');

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
