import { type Kysely, sql } from 'kysely';

/**
 * Only payments of test merchants may be simulated, unless the database is one of a service that simulates all: such a
 * service names itself in `simulated_services` when it starts, and one in production empties it. So what the service
 * decides is decided once more here: a simulated transfer settles no payment of a live merchant, and the sandbox
 * processor takes none.
 *
 * A database that has simulated goes on with it, since the previous release does while it still runs: the first rows of
 * its tables tell.
 */
export const steps = [createServices, guardDeposits, guardPayments];

async function createServices(db: Kysely<unknown>): Promise<void> {
  await sql`
    create table simulated_services (
      one boolean primary key default true check (one),
      since timestamptz(3) not null
    )`.execute(db);
  await sql`
    insert into simulated_services (since) select now()
    where exists (
        select from (select source from deposits limit 1000) as first where source = 'simulation')
      or exists (
        select from (select processor from payments limit 1000) as first
        where processor = 'sandbox')`.execute(db);
  await sql`
    create function refuse_simulation(merchant uuid) returns void language plpgsql stable as $$
    begin
      if not exists (select from merchants where id = merchant and environment = 'test')
        and not exists (select from simulated_services) then
        raise exception 'payments of the live merchant % are not simulated', merchant
          using errcode = 'check_violation';
      end if;
    end $$`.execute(db);
}

async function guardDeposits(db: Kysely<unknown>): Promise<void> {
  await sql`
    create function guard_simulated_deposit() returns trigger language plpgsql as $$
    begin
      perform refuse_simulation(merchant_id) from payments where id = new.payment_id;
      return new;
    end $$`.execute(db);
  await sql`
    create trigger deposits_simulated before insert or update of payment_id, source on deposits
    for each row when (new.source = 'simulation' and new.payment_id is not null)
    execute function guard_simulated_deposit()`.execute(db);
}

async function guardPayments(db: Kysely<unknown>): Promise<void> {
  await sql`
    create function guard_sandbox_payment() returns trigger language plpgsql as $$
    begin
      perform refuse_simulation(new.merchant_id);
      return new;
    end $$`.execute(db);
  await sql`
    create trigger payments_sandbox before insert on payments
    for each row when (new.processor = 'sandbox')
    execute function guard_sandbox_payment()`.execute(db);
  // Open payments of a database that simulated may be left when it becomes one of production.
  await sql`
    create trigger payments_sandbox_paid before update of status on payments
    for each row when (new.processor = 'sandbox' and new.status = 'successful')
    execute function guard_sandbox_payment()`.execute(db);
}
