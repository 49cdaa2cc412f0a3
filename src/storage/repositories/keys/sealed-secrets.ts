import { sql } from 'kysely';
import type { Connection } from '../../database/connection.ts';

/** Columns of the secrets that are sealed, and of the versions of their master keys. */
const SEALED = {
  api_keys: ['secret', 'master_key_version'],
  webhook_endpoints: ['secret', 'master_key_version'],
  nodes: ['access', 'master_key_version'],
  people: ['code_secret', 'code_key_version'],
  evidence_keys: ['private_key', 'master_key_version'],
  wallets: ['key', 'master_key_version'],
} as const;

export type SealedTable = keyof typeof SEALED;

/** A secret with the ID of its row, which is part of how it is sealed. */
interface SealedSecret {
  readonly id: string;
  readonly sealed: Buffer;
  readonly version: number;
}

/** Locks at most `limit` rows whose secret is sealed under one of the versions. */
export function lockSealed(
  db: Connection,
  table: SealedTable,
  versions: readonly number[],
  limit: number,
): Promise<SealedSecret[]> {
  const [secret, version] = SEALED[table];
  return db
    .selectFrom(table as 'api_keys')
    .select(['id', sql.ref<Buffer>(secret).as('sealed'), sql.ref<number>(version).as('version')])
    .where(sql.ref(secret), 'is not', null)
    .where(sql.ref(version), 'in', versions)
    .limit(limit)
    .forNoKeyUpdate()
    .execute();
}

/** Replaces a secret by the same one, sealed under another master key. */
export async function replaceSealed(
  db: Connection,
  table: SealedTable,
  { id, sealed, version: newVersion }: SealedSecret,
): Promise<void> {
  const [secret, version] = SEALED[table];
  let query = db
    .updateTable(table as 'api_keys')
    .set({ [secret]: sealed, [version]: newVersion })
    .where('id', '=', id);
  if (table === 'api_keys') {
    // The passphrase stays hashed under the former master key, whose version was that of the secret so far.
    query = query.set(({ fn }) => ({
      passphrase_key_version: fn.coalesce('passphrase_key_version', 'master_key_version'),
    }));
  }
  await query.execute();
}

/**
 * Wipes the previous secrets of at most `limit` rows whose grace period is over; skips rows locked by others.
 * @param more Further columns to wipe.
 * @returns How many rows there were.
 */
export async function wipePrevious(
  db: Connection,
  table: 'api_keys' | 'webhook_endpoints',
  more: Readonly<Record<string, null>>,
  now: Date,
  limit: number,
): Promise<number> {
  const due = db
    .selectFrom(table as 'api_keys')
    .select('id')
    .where('previous_valid_until', '<=', now)
    .limit(limit)
    .forUpdate()
    .skipLocked();
  const secret = { previous_secret: null, previous_master_key_version: null };
  const { numUpdatedRows } = await db
    .updateTable(table as 'api_keys')
    .set({ ...secret, previous_valid_until: null, ...more })
    .where('id', 'in', due)
    .executeTakeFirstOrThrow();
  return Number(numUpdatedRows);
}
