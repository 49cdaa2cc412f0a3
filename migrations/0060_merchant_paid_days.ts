import { type Kysely, sql } from 'kysely';

/**
 * What a merchant was paid by UTC day, with deltas that the worker folds, like the rollups of partners: sums over a
 * month of payments themselves take 0.2 s for a merchant with five million payments a year. Writers of payments wait
 * until the sums of the existing payments are committed with the triggers; readers do not.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`
    create table merchant_paid_deltas (
      id bigint generated always as identity primary key,
      merchant_id uuid not null,
      day date not null,
      payments integer not null,
      cents bigint not null
    ) with (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 5000)`.execute(db);
  await sql`
    create index merchant_paid_deltas_merchant on merchant_paid_deltas (merchant_id, day)`.execute(
    db,
  );
  await sql`
    create table merchant_paid_days (
      merchant_id uuid not null,
      day date not null,
      payments bigint not null,
      cents bigint not null,
      primary key (merchant_id, day)
    ) with (fillfactor = 70)`.execute(db);

  await sql`
    create function record_paid_day() returns trigger language plpgsql as $$
    begin
      if tg_op = 'UPDATE' and old.status = 'successful' then
        insert into merchant_paid_deltas (merchant_id, day, payments, cents)
        values (old.merchant_id, (old.paid_at at time zone 'UTC')::date, -1, -old.amount);
      end if;
      insert into merchant_paid_deltas (merchant_id, day, payments, cents)
      values (new.merchant_id, (new.paid_at at time zone 'UTC')::date, 1, new.amount);
      return null;
    end $$`.execute(db);
  await sql`
    create trigger payments_paid_day_insert after insert on payments
    for each row when (new.status = 'successful') execute function record_paid_day()`.execute(db);
  // No payment leaves 'successful', so only the new status has to be looked at.
  await sql`
    create trigger payments_paid_day_update after update of status, paid_at on payments
    for each row when (
      new.status = 'successful'
      and (old.status, old.paid_at) is distinct from (new.status, new.paid_at)
    ) execute function record_paid_day()`.execute(db);
  await sql`
    insert into merchant_paid_days (merchant_id, day, payments, cents)
    select merchant_id, (paid_at at time zone 'UTC')::date, count(*), sum(amount)
    from payments where status = 'successful' group by 1, 2`.execute(db);
}
