import { sql } from 'kysely';
import type { Connection } from '../../database/connection.ts';
import type { Deposit, TransactionResponses } from '../../database/deposit-tables.ts';
import type { EvidenceKey } from '../../database/key-tables.ts';
import { lockNumber } from '../advisory-locks.ts';
import { insertInto } from '../rows.ts';

/** Key of the advisory lock under which the first key is made. */
const KEY_LOCK = 20_261_124;
/** A bound for queries: keys are made by hand. */
const KEYS_MAXIMUM = 100;

/**
 * Keeps the nodes' responses by which deposits became final; later ones replace earlier ones.
 * @param rows One for each transaction.
 */
export async function keepResponses(
  db: Connection,
  rows: readonly TransactionResponses[],
): Promise<void> {
  const column = <T>(pick: (row: TransactionResponses) => T) => rows.map(pick);
  await sql`
    insert into transaction_answers (blockchain_id, transaction_hash, node, answers, recorded_at)
    select * from unnest(${column(row => row.blockchain_id)}::text[],
                         ${column(row => row.transaction_hash)}::text[],
                         ${column(row => row.node)}::text[],
                         ${column(row => row.answers)}::text[],
                         ${column(row => row.recorded_at)}::timestamptz[])
    on conflict (blockchain_id, transaction_hash) do update
      set node = excluded.node, answers = excluded.answers, recorded_at = excluded.recorded_at`.execute(
    db,
  );
}

/** The responses that are kept about the transactions of deposits. */
export async function listResponses(
  db: Connection,
  deposits: readonly Pick<Deposit, 'blockchain_id' | 'transaction_hash'>[],
): Promise<TransactionResponses[]> {
  const { rows } = await sql<TransactionResponses>`
    select distinct transaction_answers.*
    from unnest(${deposits.map(each => each.blockchain_id)}::text[],
                ${deposits.map(each => each.transaction_hash)}::text[])
         as given (blockchain_id, transaction_hash)
    join transaction_answers using (blockchain_id, transaction_hash)`.execute(db);
  return rows;
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
export function lockEvidenceKeys(db: Connection): Promise<void> {
  return lockNumber(db, KEY_LOCK);
}

export const insertEvidenceKey = insertInto('evidence_keys');
