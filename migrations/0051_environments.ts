import { type Kysely, sql } from 'kysely';

/**
 * Whether a merchant takes real money. A test merchant has addresses on test networks alone, so that no payment of
 * its can be paid on another, and counts in none of a partner's figures. What a merchant is stays so: figures that
 * were reported would change with it.
 *
 * A merchant that is there already is live unless it is certain that it is not: on chain, with addresses, of which
 * none is, or ever was, on a main network. That a US merchant only tests cannot be seen here.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  // Nothing waits for long: the default, which older releases that still run use too, rewrites no row, and merchants
  // are few beside payments, which nothing here reads.
  await sql`alter table merchants add column environment text not null default 'live'`.execute(db);
  await sql`
    update merchants set environment = 'test'
    where account_kind = 'standard'
      and exists (select from account_addresses where merchant_id = merchants.id)
      and not exists (
        select from account_addresses join networks on networks.id = blockchain_id
        where merchant_id = merchants.id and networks.environment = 'production')`.execute(db);
  await sql`
    alter table merchants add constraint merchants_environment
    check (environment in ('test', 'live'))`.execute(db);
  // Figures leave out those few.
  await sql`create index merchants_test on merchants (id) where environment = 'test'`.execute(db);

  await sql`
    create function guard_environment() returns trigger language plpgsql as $$
    begin
      raise exception 'the environment of merchant % never changes', old.id
        using errcode = 'integrity_constraint_violation';
    end $$`.execute(db);
  await sql`
    create trigger merchants_environment_guard before update of environment on merchants
    for each row when (old.environment is distinct from new.environment)
    execute function guard_environment()`.execute(db);

  await sql`
    create function guard_test_address() returns trigger language plpgsql as $$
    begin
      if exists (
        select from branches
        join merchants on merchants.id = branches.merchant_id and merchants.environment = 'test'
        join networks on networks.id = new.blockchain_id and networks.environment = 'production'
        where branches.id = new.branch_id) then
        raise exception 'a test merchant has no address on %', new.blockchain_id
          using errcode = 'integrity_constraint_violation';
      end if;
      return new;
    end $$`.execute(db);
  await sql`
    create trigger deposit_addresses_guard before insert or update on deposit_addresses
    for each row execute function guard_test_address()`.execute(db);
}
