import { type Expression, expressionBuilder, type SqlBool, sql } from 'kysely';
import type { Connection } from '../database/connection.ts';
import type { Tables } from '../database/tables.ts';

/** Tables whose rows are deleted when they are old, with the column of their age. */
const AGES = {
  nonces: 'expires_at',
  idempotency_keys: 'expires_at',
  panel_links: 'expires_at',
  email_links: 'expires_at',
  sign_in_counters: 'updated_at',
  known_devices: 'created_at',
  panel_intents: 'created_at',
  mails: 'created_at',
  attention_put_aside: 'at',
} as const;

/** Deletes at most `limit` rows from before `before`; returns how many. */
export function deleteBefore(
  db: Connection,
  table: keyof typeof AGES,
  before: Date,
  limit: number,
): Promise<number> {
  const { eb } = expressionBuilder<Tables, 'nonces'>();
  return deleteBatch(db, table, eb(sql.ref(AGES[table]), '<', before), limit);
}

/** Deletes at most `limit` rows that meet the condition and are not locked; returns how many. */
export async function deleteBatch(
  db: Connection,
  table: keyof typeof AGES | 'panel_sessions',
  condition: Expression<SqlBool>,
  limit: number,
): Promise<number> {
  const { numAffectedRows } = await sql`
    delete from ${sql.table(table)} where ctid = any(array(
      select ctid from ${sql.table(table)} where ${condition} limit ${limit} for update skip locked
    ))`.execute(db);
  return Number(numAffectedRows ?? 0n);
}
