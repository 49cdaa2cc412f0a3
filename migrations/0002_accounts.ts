import { type Kysely, sql } from 'kysely';

/** Who takes payments: partners and their members, merchants, branches, addresses and domains. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`
    create table partners (
      id uuid primary key,
      name text not null,
      status text not null default 'active' check (status in ('active', 'inactive')),
      self_service_api_payments boolean not null default false,
      created_at timestamptz(3) not null
    )`.execute(db);

  await sql`
    create table partner_members (
      id uuid primary key,
      partner_id uuid not null references partners (id),
      name text not null,
      email text not null,
      role text not null check (role in ('owner', 'developer')),
      status text not null default 'active' check (status in ('active', 'inactive')),
      created_at timestamptz(3) not null
    )`.execute(db);
  await sql`create index partner_members_partner on partner_members (partner_id, created_at)`.execute(
    db,
  );

  await sql`
    create table merchants (
      id uuid primary key,
      partner_id uuid references partners (id),
      name text not null,
      email text not null,
      status text not null default 'active' check (status in ('active', 'inactive')),
      account_kind text not null check (account_kind in ('standard', 'us')),
      onboarding_status text not null
        check (onboarding_status in ('pending', 'approved', 'rejected')),
      settlement_model text not null check (settlement_model in ('split', 'direct')),
      commission_payer text not null check (commission_payer in ('merchant', 'shopper')),
      commission_bps integer not null check (commission_bps between 0 and 10000),
      created_at timestamptz(3) not null
    )`.execute(db);
  await sql`create index merchants_partner on merchants (partner_id, created_at desc, id desc)`.execute(
    db,
  );

  await sql`
    create table branches (
      id uuid primary key,
      merchant_id uuid not null references merchants (id),
      name text not null,
      is_main boolean not null default false,
      created_at timestamptz(3) not null
    )`.execute(db);
  await sql`create index branches_merchant on branches (merchant_id)`.execute(db);
  await sql`create unique index branches_one_main on branches (merchant_id) where is_main`.execute(
    db,
  );

  await sql`
    create table deposit_addresses (
      branch_id uuid not null references branches (id),
      blockchain_id text not null references networks (id),
      address text not null,
      updated_at timestamptz(3) not null,
      primary key (branch_id, blockchain_id)
    )`.execute(db);

  await sql`
    create table redirect_domains (
      merchant_id uuid not null references merchants (id),
      domain text not null,
      created_at timestamptz(3) not null,
      primary key (merchant_id, domain)
    )`.execute(db);

  await sql`
    create table audit_log (
      id uuid primary key,
      at timestamptz(3) not null,
      actor text not null,
      action text not null,
      object_type text not null,
      object_id text not null,
      detail jsonb not null
    )`.execute(db);
  await sql`create index audit_log_object on audit_log (object_id, at)`.execute(db);
  await sql`create index audit_log_at on audit_log (at)`.execute(db);
  await sql`
    create function refuse_change() returns trigger language plpgsql as $$
    begin
      raise exception '% on % is refused', lower(tg_op), tg_table_name
        using errcode = 'integrity_constraint_violation';
    end $$`.execute(db);
  await sql`
    create trigger audit_log_append_only before update or delete or truncate on audit_log
    for each statement execute function refuse_change()`.execute(db);
}
