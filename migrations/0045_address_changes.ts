import { type Kysely, sql } from 'kysely';

/**
 * Changes of where a merchant's money goes, which wait, and a setting by which they always take a second admin.
 * One that has ended stays as it is, and what was proposed never changes: else it could be applied twice, or
 * something could be applied that nobody has seen.
 *
 * What operators change by command is there too, ended from the start, so that a merchant's people are told of it.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`
    alter table merchants add column needs_second_admin boolean not null default false`.execute(db);
  await sql`
    create table address_changes (
      id uuid primary key,
      merchant_id uuid not null references merchants (id),
      kind text not null
        check (kind in ('address.set', 'address.add', 'branch.main', 'merchant.one-admin')),
      branch_id uuid references branches (id),
      blockchain_id text references networks (id),
      address text,
      former text[] not null,
      proposed_by text not null,
      person_id uuid references people (id),
      proposed_at timestamptz(3) not null,
      effective_at timestamptz(3) not null,
      needs_approval boolean not null,
      approved_by text,
      outcome text check (outcome in ('applied', 'cancelled', 'lapsed')),
      ended_at timestamptz(3),
      check ((outcome is null) = (ended_at is null)),
      check ((kind = 'merchant.one-admin') = (branch_id is null)),
      check ((kind in ('address.set', 'address.add')) = (blockchain_id is not null)),
      check ((blockchain_id is null) = (address is null)),
      check (person_id is not null or outcome is not null)
    )`.execute(db);
  await sql`
    create unique index address_changes_one_address on address_changes (branch_id, blockchain_id)
    where outcome is null and blockchain_id is not null`.execute(db);
  await sql`
    create unique index address_changes_one_other on address_changes (merchant_id, kind)
    where outcome is null and blockchain_id is null`.execute(db);
  await sql`
    create index address_changes_due on address_changes (effective_at)
    where outcome is null and not needs_approval`.execute(db);
  // Pages of the panel read those that are open, and those that have ended lately.
  await sql`
    create index address_changes_merchant
    on address_changes (merchant_id, coalesce(ended_at, 'infinity'))`.execute(db);

  await sql`
    create function guard_address_change() returns trigger language plpgsql as $$
    begin
      if old.outcome is not null
        or (old.needs_approval and not new.needs_approval)
        or (new.id, new.merchant_id, new.kind, new.branch_id, new.blockchain_id, new.address,
            new.former, new.proposed_by, new.person_id, new.proposed_at, new.effective_at)
           is distinct from
           (old.id, old.merchant_id, old.kind, old.branch_id, old.blockchain_id, old.address,
            old.former, old.proposed_by, old.person_id, old.proposed_at, old.effective_at) then
        raise exception 'address change % has ended, or is not what was proposed', old.id
          using errcode = 'integrity_constraint_violation';
      end if;
      return new;
    end $$`.execute(db);
  await sql`
    create trigger address_changes_guard before update on address_changes
    for each row execute function guard_address_change()`.execute(db);
}
