import { type Kysely, sql } from 'kysely';

/**
 * People who sign in to the panel, what they prove themselves with, their sessions, and the links that
 * let them in. A user of a merchant or a member of a partner is what a person may enter.
 *
 * Of tokens and recovery codes, which nobody can guess, only a SHA-256 is stored; passwords are hashed
 * under the master key, and the secrets of authenticator apps sealed by it. So nobody gets in with what a
 * copy of the database holds.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`
    create table people (
      id uuid primary key,
      name text not null,
      email text not null,
      is_demo boolean not null default false,
      password_hash bytea,
      password_salt bytea,
      password_recipe smallint,
      password_key_version integer,
      code_secret bytea,
      code_key_version integer,
      code_last_step bigint,
      created_at timestamptz(3) not null,
      unique (id, is_demo),
      check (num_nonnulls(password_hash, password_salt, password_recipe, password_key_version) in (0, 4)),
      check ((code_secret is null) = (code_key_version is null)),
      check (not is_demo or (password_hash is null and code_secret is null))
    )`.execute(db);
  await sql`create unique index people_email on people (lower(email))`.execute(db);

  await sql`
    create table recovery_codes (
      person_id uuid not null references people (id),
      hash bytea not null,
      used_at timestamptz(3),
      primary key (person_id, hash)
    )`.execute(db);

  // A session without a second factor leads nowhere but to the form that asks for it, except that of
  // somebody who plays with the demo.
  await sql`
    create table panel_sessions (
      id uuid primary key,
      token_hash bytea not null unique,
      person_id uuid not null,
      is_demo boolean not null,
      methods text[] not null,
      second_factor_at timestamptz(3),
      wrong_codes smallint not null default 0,
      device text not null,
      address text not null,
      created_at timestamptz(3) not null,
      last_seen_at timestamptz(3) not null,
      foreign key (person_id, is_demo) references people (id, is_demo),
      check (is_demo or second_factor_at is null or cardinality(methods) >= 2)
    )`.execute(db);
  await sql`create index panel_sessions_person on panel_sessions (person_id, created_at)`.execute(
    db,
  );
  await sql`create index panel_sessions_seen on panel_sessions (last_seen_at)`.execute(db);

  await sql`
    create table panel_links (
      id uuid primary key,
      token_hash bytea not null unique,
      purpose text not null check (purpose in ('invitation', 'password', 'factors', 'both', 'demo')),
      person_id uuid references people (id),
      merchant_user_id uuid references merchant_users (id),
      partner_member_id uuid references partner_members (id),
      made_by text not null,
      created_at timestamptz(3) not null,
      expires_at timestamptz(3) not null,
      used_at timestamptz(3),
      check (num_nonnulls(person_id, merchant_user_id, partner_member_id) = 1)
    )`.execute(db);
  await sql`create index panel_links_expiry on panel_links (expires_at)`.execute(db);

  // Failed attempts by what was typed, whether anybody has that e-mail or not, and kind of device.
  await sql`
    create table sign_in_counters (
      key bytea primary key,
      failures integer not null,
      in_row integer not null,
      began_at timestamptz(3) not null,
      blocked_until timestamptz(3),
      updated_at timestamptz(3) not null
    )`.execute(db);
  await sql`create index sign_in_counters_updated on sign_in_counters (updated_at)`.execute(db);
  await sql`
    create table known_devices (
      token_hash bytea primary key,
      person_id uuid not null references people (id),
      created_at timestamptz(3) not null
    )`.execute(db);
  await sql`create index known_devices_created on known_devices (created_at)`.execute(db);

  // Secrets that are shown once are made once, however often their form is sent.
  await sql`
    create table panel_intents (
      id uuid primary key,
      person_id uuid not null references people (id),
      created_at timestamptz(3) not null
    )`.execute(db);
  await sql`create index panel_intents_created on panel_intents (created_at)`.execute(db);

  await sql`alter table merchant_users add column person_id uuid references people (id)`.execute(
    db,
  );
  await sql`alter table partner_members add column person_id uuid references people (id)`.execute(
    db,
  );
  await sql`
    create unique index merchant_users_person on merchant_users (person_id, merchant_id)
    where person_id is not null`.execute(db);
  await sql`
    create unique index partner_members_person on partner_members (person_id, partner_id)
    where person_id is not null`.execute(db);

  await sql`
    alter table audit_log
      add column account_id uuid,
      add column person_id uuid,
      add column origin text,
      add column address text`.execute(db);
}
