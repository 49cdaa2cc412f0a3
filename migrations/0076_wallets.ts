import { type Kysely, sql } from 'kysely';

/**
 * Wallets: a branch may be paid on Bitcoin at addresses that are derived from a public key, one for each payment.
 *
 * - `wallets`: whose a key is, in whatever spelling it was given; the key itself is sealed.
 * - `wallet_addresses`: addresses that are derived ahead of what is asked for, and whether anything arrived there.
 * - The row of a branch in `deposit_addresses` names its wallet; its address is the first one of the wallet to be used, so
 *   that the previous release, and whatever asks where a branch is paid, goes on.
 *
 * Each address of a wallet belongs to the wallet's merchant, like one that was typed: by the same triggers.
 */
export const steps = [createWallets, nameWallets, holdAddresses, noteDeposits];

async function createWallets(db: Kysely<unknown>): Promise<void> {
  await sql`
    create table wallets (
      id uuid primary key,
      merchant_id uuid not null references merchants (id),
      blockchain_id text not null references networks (id),
      kind text not null check (kind in ('pkh', 'sh-wpkh', 'wpkh', 'tr')),
      prefix text not null check (prefix in ('bc', 'tb', 'bcrt')),
      fingerprint text not null,
      digest text not null,
      key bytea not null,
      master_key_version integer not null,
      first_index integer not null check (first_index >= 0),
      created_at timestamptz(3) not null,
      left_at timestamptz(3),
      released_at timestamptz(3)
    )`.execute(db);
  // Two transactions that want one key meet here, whatever they have locked.
  await sql`
    create unique index wallets_one on wallets (blockchain_id, digest)
    where released_at is null`.execute(db);
  await sql`
    create table wallet_addresses (
      wallet_id uuid not null references wallets (id),
      index integer not null check (index >= 0),
      blockchain_id text not null references networks (id),
      address text not null,
      received_at timestamptz(3),
      is_funded boolean not null default false,
      primary key (wallet_id, index)
    )`.execute(db);
  await sql`
    create index wallet_addresses_place on wallet_addresses (blockchain_id, address)`.execute(db);
  await sql`
    create index wallet_addresses_empty on wallet_addresses (wallet_id, index)
    where received_at is null`.execute(db);
  await sql`
    create index wallet_addresses_funded on wallet_addresses (wallet_id, index)
    where is_funded`.execute(db);
}

async function nameWallets(db: Kysely<unknown>): Promise<void> {
  await sql`
    alter table deposit_addresses add column wallet_id uuid references wallets (id)`.execute(db);
  await sql`
    alter table address_changes add column wallet_id uuid references wallets (id)`.execute(db);
  await sql`
    create index deposit_addresses_wallet on deposit_addresses (wallet_id)
    where wallet_id is not null`.execute(db);
  await sql`
    create index address_changes_wallet on address_changes (wallet_id)
    where wallet_id is not null and outcome is null`.execute(db);
  await sql`
    create function guard_proposed_wallet() returns trigger language plpgsql as $$
    begin
      raise exception 'address change % is for another wallet', old.id
        using errcode = 'integrity_constraint_violation';
    end $$`.execute(db);
  await sql`
    create trigger address_changes_wallet before update on address_changes
    for each row when (new.wallet_id is distinct from old.wallet_id)
    execute function guard_proposed_wallet()`.execute(db);
}

async function holdAddresses(db: Kysely<unknown>): Promise<void> {
  // What was the trigger of `deposit_addresses` alone.
  await sql`
    create function note_address_of(owner uuid, on_network text, held text, at timestamptz)
    returns void language plpgsql as $$
    declare
      place record;
    begin
      perform hold_address(owner, on_network, held, at);
      if exists (
        select from account_addresses
        where blockchain_id = on_network and address = held and merchant_id = owner
          and until = 'infinity') then
        return;
      end if;
      select chains.family, networks.environment into place
      from networks join chains on chains.id = networks.chain where networks.id = on_network;
      if exists (
        select from account_addresses join networks on networks.id = blockchain_id
        join chains on chains.id = networks.chain
        where chains.family = place.family and networks.environment = place.environment
          and address = held and merchant_id <> owner and until = 'infinity') then
        perform begin_address_period(place.family, place.environment, held, at);
      end if;
      insert into account_addresses (blockchain_id, address, merchant_id, since)
      select on_network, held, owner, case when exists (
        select from account_addresses
        where blockchain_id = on_network and address = held and merchant_id <> owner
      ) then at else '-infinity' end
      -- A period that ended in the millisecond in which it began goes on.
      on conflict (blockchain_id, address, merchant_id, since) do update set until = 'infinity';
    end $$`.execute(db);
  await sql`
    create or replace function note_account_address() returns trigger language plpgsql as $$
    begin
      perform note_address_of(merchant_id, new.blockchain_id, new.address, new.updated_at)
      from branches where id = new.branch_id;
      return null;
    end $$`.execute(db);
  await sql`
    create function note_wallet_address() returns trigger language plpgsql as $$
    begin
      perform note_address_of(merchant_id, new.blockchain_id, new.address, now())
      from wallets where id = new.wallet_id;
      return null;
    end $$`.execute(db);
  await sql`
    create trigger wallet_addresses_hold after insert on wallet_addresses
    for each row execute function note_wallet_address()`.execute(db);
}

/**
 * Not a foreign key's work: a deposit is told of an address, whichever wallets have it. An address whose transfers are
 * undone by the chain is not funded any more, so that nobody is asked behind it.
 */
async function noteDeposits(db: Kysely<unknown>): Promise<void> {
  await sql`
    create function note_wallet_deposit() returns trigger language plpgsql as $$
    begin
      update wallet_addresses
      set received_at = coalesce(received_at, new.observed_at),
          is_funded = exists (
            select from deposits
            where deposits.blockchain_id = new.blockchain_id and deposits.address = new.address
              and (state = 'final' or state = 'seen' and block_height is not null))
      where blockchain_id = new.blockchain_id and address = new.address
        and (received_at is null or not is_funded or new.block_height is null or new.state = 'reversed');
      return null;
    end $$`.execute(db);
  await sql`
    create trigger deposits_wallets after insert or update of state, address, block_height on deposits
    for each row when (
      new.blockchain_id in ('btc', 'btc-test') and new.state in ('seen', 'final', 'reversed'))
    execute function note_wallet_deposit()`.execute(db);
}
