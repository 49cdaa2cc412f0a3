import type { Connection } from '#storage/database/connection.ts';
import { listMovements, type MovementCursor } from '#storage/repositories/payments/movements.ts';
import { addMonths, startOfMonth } from '#time/months.ts';
import { type Account, type AccountingRow, toRows } from './rows.ts';

/**
 * All rows of a UTC month: by time and ID, those of one movement together.
 * @param limit Movements that are read at once.
 */
export async function* readRows(
  db: Connection,
  account: Account,
  month: string,
  limit: number,
): AsyncGenerator<readonly AccountingRow[]> {
  const period = { from: startOfMonth(month), until: startOfMonth(addMonths(month, 1)) };
  let after: MovementCursor | undefined;
  do {
    const page = await listMovements(db, account.id, { ...period, after, limit });
    yield page.flatMap(movement => toRows(account, movement));
    after = page.length === limit ? page.at(-1) : undefined;
  } while (after !== undefined);
}
