import { type Kysely, sql } from 'kysely';

/**
 * What a node answered about a transaction when its deposits became final, and the keys that sign evidence of
 * payments. A payout to hundreds is one transaction, whose receipt is kept once. All public keys stay, so that
 * what was signed with a former one can still be verified.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`
    create table transaction_answers (
      blockchain_id text not null,
      transaction_hash text not null,
      node text not null,
      answers text not null,
      recorded_at timestamptz(3) not null,
      primary key (blockchain_id, transaction_hash)
    )`.execute(db);
  await sql`
    create table evidence_keys (
      id text primary key,
      public_key bytea not null,
      private_key bytea not null,
      master_key_version integer not null,
      created_at timestamptz(3) not null
    )`.execute(db);
}
