import type { Connection } from '../../database/connection.ts';

/** @returns Whether the intent is new: each is carried out only once. */
export async function useIntent(
  db: Connection,
  row: { id: string; person_id: string; created_at: Date },
): Promise<boolean> {
  const { numInsertedOrUpdatedRows } = await db
    .insertInto('panel_intents')
    .values(row)
    .onConflict(conflict => conflict.doNothing())
    .executeTakeFirstOrThrow();
  return numInsertedOrUpdatedRows === 1n;
}
