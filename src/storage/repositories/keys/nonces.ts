import { sql } from 'kysely';
import type { Connection } from '../../database/connection.ts';
import { type Given, prepare } from '../../database/prepared.ts';

export interface UsedNonce {
  readonly keyId: string;
  /** Digest of the nonce (signing/nonce-store.ts). */
  readonly nonce: string;
}

interface Claims {
  readonly keyIds: readonly string[];
  readonly nonces: readonly string[];
  readonly expiresAt: Date;
  readonly now: Date;
}

const claimNonces = prepare(
  'claim_nonces',
  (_db, given: Given<Claims>) => sql<{ key_id: string; nonce: string }>`
    with relaxed as (select set_config('synchronous_commit', 'off', true))
    insert into nonces (key_id, nonce, expires_at)
    select key_id, nonce, ${given('expiresAt')}::timestamptz
    from relaxed, unnest(${given('keyIds')}::text[], ${given('nonces')}::text[])
      as used (key_id, nonce)
    group by key_id, nonce order by key_id, nonce
    on conflict (key_id, nonce) do update set expires_at = excluded.expires_at
    where nonces.expires_at <= ${given('now')}::timestamptz
    returning key_id, nonce`,
);

/**
 * Stores nonces until `expiresAt`, in one statement, sorted so that concurrent statements with nonces
 * in common wait for each other instead of deadlocking.
 *
 * The commit does not wait for the disk: a crash of PostgreSQL loses at most the last fraction of a
 * second of nonces, whereas it would truncate an unlogged table.
 *
 * @returns The nonces that are new for their keys.
 */
export async function insertNonces(
  db: Connection,
  used: readonly UsedNonce[],
  { expiresAt, now }: { readonly expiresAt: Date; readonly now: Date },
): Promise<UsedNonce[]> {
  const rows = await claimNonces(db, {
    keyIds: used.map(({ keyId }) => keyId),
    nonces: used.map(({ nonce }) => nonce),
    expiresAt,
    now,
  });
  return rows.map(row => ({ keyId: row.key_id, nonce: row.nonce }));
}
