import type { Insertable } from 'kysely';
import type { Connection } from '../database/connection.ts';
import type { EventsTable } from '../database/tables.ts';

/** Records an event; call it in the transaction of the change it tells. */
export async function insertEvent(db: Connection, row: Insertable<EventsTable>): Promise<void> {
  await db.insertInto('events').values(row).execute();
}
