import { sql } from 'kysely';
import type { Connection } from '../../database/connection.ts';
import { lockNumber } from '../advisory-locks.ts';

/** Key of the advisory lock under which master keys are added. */
const ADDITION_LOCK = 20_261_123;

/** Versions of the master keys in use. */
export async function listMasterKeys(db: Connection): Promise<number[]> {
  const rows = await db.selectFrom('master_keys').select('version').orderBy('version').execute();
  return rows.map(({ version }) => version);
}

/** Makes other processes that add a master key wait until the transaction ends. */
export function lockMasterKeys(db: Connection): Promise<void> {
  return lockNumber(db, ADDITION_LOCK);
}

export async function insertMasterKey(db: Connection, version: number, now: Date): Promise<void> {
  await db
    .insertInto('master_keys')
    .values({ version, created_at: now })
    .onConflict(conflict => conflict.doNothing())
    .execute();
}

/** Removes every version but one; returns the others. */
export async function deleteOtherMasterKeys(db: Connection, version: number): Promise<number[]> {
  const rows = await db
    .deleteFrom('master_keys')
    .where('version', '!=', version)
    .returning('version')
    .execute();
  return rows.map(row => row.version);
}

/** What still needs a master key other than the one with the version `current`. */
export interface UnderOthers {
  /** API keys that can be used, by the hash of their passphrase. */
  readonly apiKeys: number;
  /** Keys of the older contract. */
  readonly legacyKeys: number;
  /** Passwords of the panel, which are hashed again at the next sign-in. */
  readonly passwords: number;
  /** Sealed URLs and headers of nodes: a process with another key may have added one just now. */
  readonly nodes: number;
  /** Whether previous secrets or stored responses, which expire by themselves, evidence keys or wallets need one. */
  readonly lapsing: boolean;
}

/**
 * Counts what other master keys are needed for, in one statement. Of the stored responses only the oldest is
 * checked: they expire in the order in which they were stored, so if it needs no other key, none does.
 */
export async function countUnderOthers(
  db: Connection,
  current: number,
  now: Date,
): Promise<UnderOthers> {
  const { rows } = await sql<{ [K in keyof UnderOthers]: UnderOthers[K] }>`
    select
      (select count(*) from api_keys
       where revoked_at is null and (expires_at is null or expires_at > ${now})
         and coalesce(passphrase_key_version, master_key_version) <> ${current}) as "apiKeys",
      (select count(*) from merchant_users
       where api_key_hash is not null and master_key_version <> ${current}) as "legacyKeys",
      (select count(*) from people
       where password_hash is not null and password_key_version <> ${current}) as passwords,
      (select count(*) from nodes where master_key_version <> ${current}) as nodes,
      exists (select from api_keys
              where previous_valid_until > ${now}
                and (previous_master_key_version <> ${current}
                     or previous_passphrase_key_version <> ${current}))
        or exists (select from webhook_endpoints
                   where previous_valid_until > ${now}
                     and previous_master_key_version <> ${current})
        or exists (select from evidence_keys where master_key_version <> ${current})
        or exists (select from wallets where master_key_version <> ${current})
        or coalesce((select master_key_version <> ${current} from idempotency_keys
                     where expires_at > ${now} order by expires_at limit 1), false) as lapsing`.execute(
    db,
  );
  const [row] = rows;
  if (row === undefined) throw new Error('the count has no result');
  return row;
}
