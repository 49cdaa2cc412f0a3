import { type Kysely, sql } from 'kysely';

/**
 * Marks the addresses at which deposits may wait. A wallet's are thousands, nearly all of which were paid what was asked
 * for or nothing, and whoever reads what waits for a merchant looks at each address that may have any.
 *
 * All others are marked from the beginning; a derived one when a deposit that no payment takes arrives there, for good:
 * an inbox must not lose what arrives while another deposit leaves it. Those of former releases stay marked.
 */
export const steps = [
  addMark,
  noteWaiting,
  markDerived,
  {
    index: 'account_addresses_waiting',
    on: 'on account_addresses (merchant_id) where may_wait',
  },
];

async function addMark(db: Kysely<unknown>): Promise<void> {
  await sql`
    alter table account_addresses add column may_wait boolean not null default true`.execute(db);
}

async function noteWaiting(db: Kysely<unknown>): Promise<void> {
  await sql`
    create function note_waiting_deposit() returns trigger language plpgsql as $$
    begin
      update account_addresses set may_wait = true
      where blockchain_id = new.blockchain_id and address = new.address and not may_wait;
      return null;
    end $$`.execute(db);
  await sql`
    create trigger deposits_waiting
    after insert or update of payment_id, state, dismissed_at, address on deposits
    for each row when (
      new.blockchain_id in ('btc', 'btc-test') and new.payment_id is null
      and new.dismissed_at is null and new.state in ('seen', 'final'))
    execute function note_waiting_deposit()`.execute(db);
}

/** Nothing is watched for at an address that nobody else had, until it is committed and quoted. */
async function markDerived(db: Kysely<unknown>): Promise<void> {
  await sql`
    create or replace function note_wallet_address() returns trigger language plpgsql as $$
    declare
      is_new boolean := not exists (
        select from account_addresses
        where blockchain_id = new.blockchain_id and address = new.address);
    begin
      perform note_address_of(merchant_id, new.blockchain_id, new.address, now())
      from wallets where id = new.wallet_id;
      if is_new then
        update account_addresses set may_wait = exists (
          select from deposits
          where deposits.blockchain_id = new.blockchain_id and deposits.address = new.address)
        where blockchain_id = new.blockchain_id and address = new.address;
      end if;
      return null;
    end $$`.execute(db);
}
