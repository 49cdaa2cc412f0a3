import { sql } from 'kysely';
import type { Connection } from './connection.ts';

/** Resolves when the database answers. */
export async function ping(db: Connection): Promise<void> {
  await sql`select 1`.execute(db);
}
