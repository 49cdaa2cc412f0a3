import { sql } from 'kysely';
import type { Connection } from '../../database/connection.ts';

/** What an API key was last used for. */
export interface KeyUse {
  readonly keyId: string;
  readonly at: Date;
  readonly address: string;
  /** The response's error code; null where the request succeeded. */
  readonly errorCode: string | null;
}

/** Records the latest use of each key; a use that is older than the recorded one changes nothing. */
export async function writeKeyUses(db: Connection, uses: readonly KeyUse[]): Promise<void> {
  const column = <T>(pick: (use: KeyUse) => T) => uses.map(pick);
  await sql`
    insert into api_key_usage as known (key_id, last_used_at, address, last_error, last_error_at)
    select key_id, at, address, error, case when error is not null then at end
    from unnest(${column(use => use.keyId)}::text[], ${column(use => use.at)}::timestamptz[],
                ${column(use => use.address)}::text[], ${column(use => use.errorCode)}::text[])
         as used (key_id, at, address, error)
    where exists (select from api_keys where id = used.key_id)
    order by key_id
    on conflict (key_id) do update set
      last_used_at = excluded.last_used_at,
      address = excluded.address,
      last_error = coalesce(excluded.last_error, known.last_error),
      last_error_at = coalesce(excluded.last_error_at, known.last_error_at)
    where known.last_used_at <= excluded.last_used_at`.execute(db);
}
