import { sql } from 'kysely';
import type { Connection } from '../database/connection.ts';
import type { DepositAnswers, EvidenceKey } from '../database/tables.ts';

/** Key of the advisory lock under which the first key is made. */
const KEY_LOCK = 20_261_124;
/** A bound for queries: keys are made by hand. */
const KEYS_MAXIMUM = 100;

/** Keeps the answers by which deposits become final; those of a later look replace the former. */
export async function keepAnswers(db: Connection, rows: readonly DepositAnswers[]): Promise<void> {
  const column = <T>(pick: (row: DepositAnswers) => T) => rows.map(pick);
  await sql`
    insert into deposit_answers (deposit_id, node, answers, recorded_at)
    select * from unnest(${column(row => row.deposit_id)}::uuid[], ${column(row => row.node)}::text[],
                         ${column(row => row.answers)}::text[],
                         ${column(row => row.recorded_at)}::timestamptz[])
    on conflict (deposit_id) do update
      set node = excluded.node, answers = excluded.answers, recorded_at = excluded.recorded_at`.execute(
    db,
  );
}

/** The answers that were kept of deposits. */
export function listAnswers(
  db: Connection,
  depositIds: readonly string[],
): Promise<DepositAnswers[]> {
  if (depositIds.length === 0) return Promise.resolve([]);
  return db
    .selectFrom('deposit_answers')
    .selectAll()
    .where('deposit_id', 'in', depositIds)
    .execute();
}

/** Every key, the newest first. */
export function listEvidenceKeys(db: Connection): Promise<EvidenceKey[]> {
  return db
    .selectFrom('evidence_keys')
    .selectAll()
    .orderBy('created_at', 'desc')
    .orderBy('id')
    .limit(KEYS_MAXIMUM)
    .execute();
}

/** Makes other processes that make a key wait until the transaction ends. */
export async function lockEvidenceKeys(db: Connection): Promise<void> {
  await sql`select pg_advisory_xact_lock(${KEY_LOCK})`.execute(db);
}

export async function insertEvidenceKey(db: Connection, row: EvidenceKey): Promise<void> {
  await db.insertInto('evidence_keys').values(row).execute();
}

/** Seals a private key anew. */
export async function updateEvidenceKey(
  db: Connection,
  id: string,
  change: Pick<EvidenceKey, 'private_key' | 'master_key_version'>,
): Promise<void> {
  await db.updateTable('evidence_keys').set(change).where('id', '=', id).execute();
}
