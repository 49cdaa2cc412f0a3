import { type Kysely, sql } from 'kysely';

/**
 * Whose an address is. It is in force for one merchant at most, waiting changes included, on all chains of its family:
 * one key has the same address on each. Two transactions that want the same one meet in the unique index, whatever
 * they have locked. Only an operator admits another merchant, beside one that has it.
 *
 * Deposits keep to whom the address belonged when they arrived: `account_addresses` gets periods.
 *
 * Addresses are looked for under a lock on what is written meanwhile, in the last step; until then the previous
 * release's triggers do with the new columns what they did.
 *
 * Reads no payments and no reservations, of which there may be millions; addresses and their changes are few.
 */
export const steps = [createHolders, createFunctions, addPeriods, holdAddresses];

async function createHolders(db: Kysely<unknown>): Promise<void> {
  await sql`
    create table address_holders (
      family text not null,
      environment text not null,
      address text not null,
      merchant_id uuid not null references merchants (id),
      -- A merchant that has it too, beside which an operator has admitted this one; null for whom it belongs to.
      shared_with uuid check (shared_with <> merchant_id),
      held_since timestamptz(3) not null,
      -- Since when it is neither in force nor waits; null while it is or does.
      left_at timestamptz(3),
      primary key (family, environment, address, merchant_id),
      -- At the commit: when the first one leaves, the next one takes its place.
      foreign key (family, environment, address, shared_with) references address_holders
        deferrable initially deferred
    )`.execute(db);
  await sql`
    create unique index address_holders_one on address_holders (family, environment, address)
    where shared_with is null`.execute(db);
  await sql`create index address_holders_merchant on address_holders (merchant_id)`.execute(db);
}

async function addPeriods(db: Kysely<unknown>): Promise<void> {
  await sql`
    alter table account_addresses
      add column since timestamptz(3) not null default '-infinity',
      add column until timestamptz(3) not null default 'infinity',
      drop constraint account_addresses_pkey,
      add primary key (blockchain_id, address, merchant_id, since)`.execute(db);
}

async function holdAddresses(db: Kysely<unknown>): Promise<void> {
  // What the previous release writes meanwhile waits, and then holds its address by the triggers below.
  await sql`lock table address_changes, deposit_addresses in share row exclusive mode`.execute(db);
  await replaceTriggers(db);
  await fill(db);
}

async function createFunctions(db: Kysely<unknown>): Promise<void> {
  await sql`
    create function hold_address(holder uuid, on_network text, held text, at timestamptz)
    returns void language sql as $$
      insert into address_holders (family, environment, address, merchant_id, held_since)
      select chains.family, networks.environment, held, holder, at
      from networks join chains on chains.id = networks.chain where networks.id = on_network
      on conflict (family, environment, address, merchant_id) do update set left_at = null
    $$`.execute(db);

  // Whoever else an address belongs to from now on, what arrived before is as it was.
  await sql`
    create function begin_address_period(of_family text, of_environment text, held text, at timestamptz)
    returns void language plpgsql as $$
    declare
      holders uuid[] := array(
        select merchant_id from address_holders
        where family = of_family and environment = of_environment and address = held);
      ids text[] := array(
        select networks.id from networks join chains on chains.id = networks.chain
        where chains.family = of_family and networks.environment = of_environment);
    begin
      insert into account_addresses (blockchain_id, address, merchant_id, since)
      select blockchain_id, address, merchant_id, at from account_addresses
      where blockchain_id = any(ids) and address = held and until = 'infinity'
        and since < at and merchant_id = any(holders)
      on conflict (blockchain_id, address, merchant_id, since) do update set until = 'infinity';
      update account_addresses set until = at
      where blockchain_id = any(ids) and address = held and until = 'infinity'
        and (since < at or merchant_id <> all(holders));
    end $$`.execute(db);
}

async function replaceTriggers(db: Kysely<unknown>): Promise<void> {
  await sql`
    create or replace function note_account_address() returns trigger language plpgsql as $$
    declare
      owner uuid;
      place record;
    begin
      select merchant_id into owner from branches where id = new.branch_id;
      perform hold_address(owner, new.blockchain_id, new.address, new.updated_at);
      if exists (
        select from account_addresses
        where blockchain_id = new.blockchain_id and address = new.address and merchant_id = owner
          and until = 'infinity') then
        return null;
      end if;
      select chains.family, networks.environment into place
      from networks join chains on chains.id = networks.chain where networks.id = new.blockchain_id;
      if exists (
        select from account_addresses join networks on networks.id = blockchain_id
        join chains on chains.id = networks.chain
        where chains.family = place.family and networks.environment = place.environment
          and address = new.address and merchant_id <> owner and until = 'infinity') then
        perform begin_address_period(place.family, place.environment, new.address, new.updated_at);
      end if;
      insert into account_addresses (blockchain_id, address, merchant_id, since)
      select new.blockchain_id, new.address, owner, case when exists (
        select from account_addresses
        where blockchain_id = new.blockchain_id and address = new.address and merchant_id <> owner
      ) then new.updated_at else '-infinity' end
      -- A period that ended in the millisecond in which it began goes on.
      on conflict (blockchain_id, address, merchant_id, since) do update set until = 'infinity';
      return null;
    end $$`.execute(db);

  await sql`
    create function hold_waiting_address() returns trigger language plpgsql as $$
    begin
      perform hold_address(new.merchant_id, new.blockchain_id, new.address, new.proposed_at);
      return null;
    end $$`.execute(db);
  await sql`
    create trigger address_changes_hold after insert on address_changes
    for each row when (new.outcome is null and new.address is not null)
    execute function hold_waiting_address()`.execute(db);

  await sql`
    create or replace function book_dismissed_deposit() returns trigger language plpgsql as $$
    begin
      insert into booked_deposits (deposit_id, merchant_id, booked_at)
      select new.id, min(merchant_id::text)::uuid, new.updated_at
      from account_addresses
      where blockchain_id = new.blockchain_id and address = new.address
        and since <= new.observed_at and new.observed_at < until
      having count(*) = 1
      on conflict do nothing;
      return null;
    end $$`.execute(db);
}

/** Addresses that several merchants have stay so, and are shared from now on: nobody loses one by a new release. */
async function fill(db: Kysely<unknown>): Promise<void> {
  // The first one to have it is whom it belongs to.
  await sql`
    insert into address_holders (family, environment, address, merchant_id, shared_with, held_since)
    select family, environment, address, merchant_id, nullif(first_value(merchant_id) over same, merchant_id),
           '-infinity'
    from (
      select chains.family, networks.environment, address, merchant_id, min(updated_at) as at
      from deposit_addresses join branches on branches.id = branch_id
      join networks on networks.id = blockchain_id join chains on chains.id = networks.chain
      group by 1, 2, 3, 4
    ) as used
    window same as (partition by family, environment, address order by at, merchant_id)`.execute(
    db,
  );
  // When one was removed is not known: it is as if that were now.
  await sql`
    insert into address_holders (family, environment, address, merchant_id, shared_with, held_since, left_at)
    select family, environment, address, merchant_id, nullif(first_value(merchant_id) over same, merchant_id),
           '-infinity', now()
    from (
      select distinct chains.family, networks.environment, address, merchant_id
      from account_addresses join networks on networks.id = blockchain_id
      join chains on chains.id = networks.chain
    ) as former
    where not exists (
      select from address_holders as held
      where held.family = former.family and held.environment = former.environment
        and held.address = former.address)
    window same as (partition by family, environment, address order by merchant_id)`.execute(db);
  // A waiting change for an address of others holds nothing, and lapses when its time has come.
  await sql`
    insert into address_holders (family, environment, address, merchant_id, held_since)
    select chains.family, networks.environment, address, merchant_id, proposed_at
    from address_changes join networks on networks.id = blockchain_id
    join chains on chains.id = networks.chain
    where outcome is null and address is not null
    order by proposed_at, address_changes.id
    on conflict do nothing`.execute(db);
  // From now on an address is only theirs who hold it, and no more of those who once had it.
  await sql`
    select begin_address_period(family, environment, address, now()) from (
      select chains.family, networks.environment, address
      from account_addresses join networks on networks.id = blockchain_id
      join chains on chains.id = networks.chain
      group by 1, 2, 3 having count(distinct merchant_id) > 1
    ) as several`.execute(db);
}
