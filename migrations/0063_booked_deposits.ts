import { type Kysely, sql } from 'kysely';

/**
 * Final deposits that settled no payment, in whose books they are and since when: those that were dismissed, and parts
 * of payments that ended without the rest, or were paid on another network. A row never changes, so that the month of
 * it can be closed: a deposit may become final long after it was dismissed, and its address may get another owner.
 *
 * Without foreign keys, whose locks on other rows could deadlock with those of settlement.
 */
export const steps = [
  book,
  // With those that were dismissed before they had a price.
  {
    index: 'deposits_settled_unpriced',
    on: `on deposits (blockchain_id, observed_at)
         where (payment_id is not null or dismissed_at is not null) and state = 'final'
           and usd_price is null and price_wanted`,
  },
  dropFormerIndex,
];

export async function book(db: Kysely<unknown>): Promise<void> {
  await sql`
    create table booked_deposits (
      deposit_id uuid primary key,
      merchant_id uuid not null,
      booked_at timestamptz(3) not null
    )`.execute(db);
  await sql`
    create index booked_deposits_merchant
    on booked_deposits (merchant_id, booked_at, deposit_id)`.execute(db);
  await bookDismissed(db);
  await bookParts(db);
}

async function dropFormerIndex(db: Kysely<unknown>): Promise<void> {
  await sql`drop index if exists deposits_dismissed`.execute(db);
}

/** A dismissed deposit is its address's only owner's. Where it has several, nobody knows whose it is. */
async function bookDismissed(db: Kysely<unknown>): Promise<void> {
  await sql`
    insert into booked_deposits (deposit_id, merchant_id, booked_at)
    select deposits.id, min(merchant_id::text)::uuid, dismissed_at
    from deposits join account_addresses using (blockchain_id, address)
    where dismissed_at is not null and state = 'final'
    group by deposits.id having count(*) = 1`.execute(db);
  await sql`
    create function book_dismissed_deposit() returns trigger language plpgsql as $$
    begin
      insert into booked_deposits (deposit_id, merchant_id, booked_at)
      select new.id, min(merchant_id::text)::uuid, new.updated_at
      from account_addresses
      where blockchain_id = new.blockchain_id and address = new.address
      having count(*) = 1
      on conflict do nothing;
      return null;
    end $$`.execute(db);
  await sql`
    create trigger deposits_booked after insert or update of state, dismissed_at on deposits
    for each row when (new.dismissed_at is not null and new.state = 'final')
    execute function book_dismissed_deposit()`.execute(db);
}

/** All that arrived for a payment on the network on which it was paid is in its own row. */
async function bookParts(db: Kysely<unknown>): Promise<void> {
  const isBooked = sql`
    deposits.state = 'final' and (
      to_status <> 'successful' or deposits.blockchain_id is distinct from payments.blockchain_id)`;
  await sql`
    insert into booked_deposits (deposit_id, merchant_id, booked_at)
    select deposits.id, payments.merchant_id, at
    from deviating_deposits as part
    join deposits on deposits.id = part.deposit_id and deposits.payment_id = part.payment_id
    join payments on payments.id = part.payment_id
    join payment_transitions as move on move.payment_id = part.payment_id
    where kind = 'under' and to_status <> 'pending' and ${isBooked}
    on conflict do nothing`.execute(db);
  await sql`
    create function book_parts_of_payment() returns trigger language plpgsql as $$
    declare
      to_status text := new.to_status;
    begin
      insert into booked_deposits (deposit_id, merchant_id, booked_at)
      select deposits.id, merchant_id, new.at
      from deposits join payments on payments.id = payment_id
      where payment_id = new.payment_id and ${isBooked}
      on conflict do nothing;
      return null;
    end $$`.execute(db);
  await sql`
    create trigger payment_transitions_parts after insert on payment_transitions
    for each row when (new.to_status <> 'pending')
    execute function book_parts_of_payment()`.execute(db);
}
