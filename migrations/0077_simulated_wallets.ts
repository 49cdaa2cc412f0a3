import { type Kysely, sql } from 'kysely';

/**
 * A simulated transfer reaches no wallet: it neither funds an address, behind which wallets then look for the next ones,
 * nor uses it up.
 */
export const steps = [noteDeposits, forgetSimulated];

async function noteDeposits(db: Kysely<unknown>): Promise<void> {
  await sql`
    create or replace trigger deposits_wallets
    after insert or update of state, address, block_height on deposits
    for each row when (
      new.blockchain_id in ('btc', 'btc-test') and new.state in ('seen', 'final', 'reversed')
      and new.source <> 'simulation')
    execute function note_wallet_deposit()`.execute(db);
  await sql`
    create or replace function note_wallet_deposit() returns trigger language plpgsql as $$
    begin
      update wallet_addresses
      set received_at = coalesce(received_at, new.observed_at),
          is_funded = exists (
            select from deposits
            where deposits.blockchain_id = new.blockchain_id and deposits.address = new.address
              and source <> 'simulation'
              and (state = 'final' or state = 'seen' and block_height is not null))
      where blockchain_id = new.blockchain_id and address = new.address
        and (received_at is null or not is_funded or new.block_height is null or new.state = 'reversed');
      return null;
    end $$`.execute(db);
}

async function forgetSimulated(db: Kysely<unknown>): Promise<void> {
  await sql`
    update wallet_addresses
    set received_at = real.received_at, is_funded = coalesce(real.is_funded, false)
    from wallet_addresses as former cross join lateral (
      select min(observed_at) as received_at,
        bool_or(state = 'final' or state = 'seen' and block_height is not null) as is_funded
      from deposits
      where deposits.blockchain_id = former.blockchain_id and deposits.address = former.address
        and source <> 'simulation' and state in ('seen', 'final', 'reversed')
    ) as real
    where former.received_at is not null
      and wallet_addresses.wallet_id = former.wallet_id and wallet_addresses.index = former.index
      and exists (
        select from deposits
        where deposits.blockchain_id = former.blockchain_id and deposits.address = former.address
          and source = 'simulation')`.execute(db);
}
