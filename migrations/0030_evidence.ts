import { type Kysely, sql } from 'kysely';

/**
 * What a node answered when a deposit became final, and the keys that sign evidence of payments. All public
 * keys stay, so that what was signed with a former one can still be verified. Deposits are never deleted,
 * so that nothing has to be checked each time answers are kept.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`
    create table deposit_answers (
      deposit_id uuid primary key,
      node text not null,
      answers text not null,
      recorded_at timestamptz(3) not null
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
