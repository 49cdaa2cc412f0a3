import { type Kysely, sql } from 'kysely';

/** What payers see of a merchant on the checkout, and since when the price of a payment is held. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`
    alter table merchants
      add column support_contact text,
      add column accent_color text check (accent_color ~ '^#[0-9a-f]{6}$'),
      add column shows_note boolean not null default false`.execute(db);
  await sql`
    create table merchant_logos (
      merchant_id uuid primary key references merchants (id),
      hash text not null check (hash ~ '^[0-9a-f]{64}$'),
      type text not null check (type in ('image/png', 'image/webp')),
      content bytea not null
    )`.execute(db);
  await sql`create index merchant_logos_hash on merchant_logos (hash)`.execute(db);
  await sql`alter table payments add column quoted_at timestamptz(3)`.execute(db);
}
