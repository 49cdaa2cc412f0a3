import { type Kysely, sql } from 'kysely';

/**
 * Closes what was left beside the triggers that keep payments of live merchants from being simulated:
 * - A simulated transfer of an earlier time, when the service simulated, cannot become final, nor fail.
 * - Nothing is done in the name of the simulation: no payment is cancelled, expired or settled by it.
 * - The sandbox's customer can neither pay nor fail.
 * - A payment that the deposit's transaction does not see yet counts as one of a live merchant.
 * - A service that simulates may still be at it while one in production forbids it, and either waits for the other.
 */
export const steps = [decideUnderLock, guardDeposits, guardTransitions, guardPayments];

async function decideUnderLock(db: Kysely<unknown>): Promise<void> {
  // What a merchant is never changes, so that its row needs no lock.
  await sql`
    create or replace function refuse_simulation(merchant uuid) returns void
    language plpgsql volatile as $$
    begin
      if exists (select from merchants where id = merchant and environment = 'test') then
        return;
      end if;
      perform from simulated_services for key share;
      if not found then
        raise exception 'payments of the live merchant % are not simulated', merchant
          using errcode = 'check_violation';
      end if;
    end $$`.execute(db);
  await sql`
    create or replace function guard_simulated_deposit() returns trigger language plpgsql as $$
    begin
      perform refuse_simulation((select merchant_id from payments where id = new.payment_id));
      return new;
    end $$`.execute(db);
}

async function guardDeposits(db: Kysely<unknown>): Promise<void> {
  await sql`
    create or replace trigger deposits_simulated
    before insert or update of payment_id, source, state on deposits
    for each row when (
      new.source = 'simulation' and new.payment_id is not null and new.state <> 'reversed')
    execute function guard_simulated_deposit()`.execute(db);
}

async function guardTransitions(db: Kysely<unknown>): Promise<void> {
  await sql`
    create trigger payment_transitions_simulated before insert on payment_transitions
    for each row when (new.actor = 'simulation')
    execute function guard_simulated_deposit()`.execute(db);
}

async function guardPayments(db: Kysely<unknown>): Promise<void> {
  // Open payments of a database that simulated still expire, and may be cancelled.
  await sql`
    create or replace trigger payments_sandbox_paid before update of session_status, status on payments
    for each row when (
      new.processor = 'sandbox' and new.session_status = 'completed'
      and (new.status, new.session_status) is distinct from (old.status, old.session_status))
    execute function guard_sandbox_payment()`.execute(db);
}
