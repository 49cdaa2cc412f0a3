import { sql } from 'kysely';
import type { Connection } from '../database/connection.ts';

/**
 * Remembers a nonce until `expiresAt`.
 *
 * The commit does not wait for the disk: a crash of PostgreSQL forgets at most the last fraction of
 * a second of nonces, while a whole unlogged table would be forgotten.
 *
 * @returns Whether the nonce is new for this key.
 */
export async function insertNonce(
  db: Connection,
  row: { keyId: string; nonce: string; expiresAt: Date; now: Date },
): Promise<boolean> {
  const { rows } = await sql`
    with relaxed as (select set_config('synchronous_commit', 'off', true))
    insert into nonces (key_id, nonce, expires_at)
    select ${row.keyId}, ${row.nonce}, ${row.expiresAt}::timestamptz from relaxed
    on conflict (key_id, nonce) do update set expires_at = excluded.expires_at
    where nonces.expires_at <= ${row.now}
    returning 1`.execute(db);
  return rows.length > 0;
}

/** Removes at most `limit` nonces that expired before `now`; returns how many. */
export async function deleteExpiredNonces(
  db: Connection,
  now: Date,
  limit: number,
): Promise<number> {
  const { numAffectedRows } = await sql`
    delete from nonces where ctid = any(array(
      select ctid from nonces where expires_at < ${now} limit ${limit} for update skip locked
    ))`.execute(db);
  return Number(numAffectedRows ?? 0n);
}
