import { type Kysely, sql } from 'kysely';

/**
 * Which payment a deposit has left: the chain has undone it, or it was final only after the payment's end. Only one of
 * exactly the payment's amount was known to be meant for it, but not what had been too little, or a little too much.
 * One that is read again at another address, or with another amount, was never the payment's.
 */
export const steps = [noteKinds, noteDepartures];

async function noteKinds(db: Kysely<unknown>): Promise<void> {
  await sql`
    alter table deviating_deposits drop constraint deviating_deposits_kind_check`.execute(db);
  // Not validated: it allows more than the one before, so that no row can break it.
  await sql`
    alter table deviating_deposits add constraint deviating_deposits_kind_check
      check (kind in ('under', 'over', 'late', 'duplicate', 'left')) not valid`.execute(db);
  await sql`
    create or replace function note_deviations() returns trigger language plpgsql as $$
    begin
      delete from deviating_deposits where deposit_id = new.id and kind <> 'left';
      insert into deviating_deposits (deposit_id, payment_id, kind, merchant_id, created_at)
      select new.id, payment_id, kind, merchant_id, created_at from deviations_of(new);
      return null;
    end $$`.execute(db);
}

async function noteDepartures(db: Kysely<unknown>): Promise<void> {
  await sql`
    create function note_departure() returns trigger language plpgsql as $$
    begin
      if new.address <> old.address or new.token_amount <> old.token_amount then
        delete from deviating_deposits where deposit_id = new.id and kind = 'left';
      elsif new.payment_id is null then
        insert into deviating_deposits (deposit_id, payment_id, kind, merchant_id, created_at)
        select new.id, id, 'left', merchant_id, created_at from payments where id = old.payment_id
        on conflict do nothing;
      end if;
      return null;
    end $$`.execute(db);
  await sql`
    create trigger deposits_departures after update of payment_id on deposits
    for each row when (
      old.payment_id is not null and new.payment_id is null
      or new.address <> old.address or new.token_amount <> old.token_amount)
    execute function note_departure()`.execute(db);
}
