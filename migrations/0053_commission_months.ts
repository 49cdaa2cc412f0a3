import { type Kysely, sql } from 'kysely';

/**
 * Commission of a partner's merchants by the UTC month in which payments were paid.
 *
 * It has deltas of its own: workers of the previous release fold `partner_commission_deltas` without knowing of
 * months. Writers of payments wait until the sums of the existing payments are committed with the triggers; readers
 * do not.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`
    create table partner_commission_month_deltas (
      id bigint generated always as identity primary key,
      partner_id uuid not null,
      merchant_id uuid not null,
      month date not null,
      cents bigint not null
    ) with (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 5000)`.execute(db);
  await sql`
    create index partner_commission_month_deltas_partner
    on partner_commission_month_deltas (partner_id)`.execute(db);
  await sql`
    create table partner_commission_months (
      partner_id uuid not null,
      merchant_id uuid not null,
      month date not null,
      cents bigint not null,
      primary key (partner_id, month, merchant_id)
    ) with (fillfactor = 70)`.execute(db);

  await sql`
    create function record_commission_month() returns trigger language plpgsql as $$
    begin
      if tg_op = 'UPDATE' and old.status = 'successful' then
        insert into partner_commission_month_deltas (partner_id, merchant_id, month, cents)
        values (old.partner_id, old.merchant_id, date_trunc('month', old.paid_at at time zone 'UTC'),
                -coalesce(old.commission_amount, 0));
      end if;
      insert into partner_commission_month_deltas (partner_id, merchant_id, month, cents)
      values (new.partner_id, new.merchant_id, date_trunc('month', new.paid_at at time zone 'UTC'),
              coalesce(new.commission_amount, 0));
      return null;
    end $$`.execute(db);
  await sql`
    create trigger payments_commission_month_insert after insert on payments
    for each row when (
      new.partner_id is not null and new.status = 'successful' and new.commission_amount <> 0
    ) execute function record_commission_month()`.execute(db);
  // No payment leaves 'successful', so only the new status has to be looked at.
  await sql`
    create trigger payments_commission_month_update
    after update of status, commission_amount, paid_at on payments
    for each row when (
      new.partner_id is not null and new.status = 'successful'
      and (coalesce(old.commission_amount, 0) <> 0 or coalesce(new.commission_amount, 0) <> 0)
      and (old.status, old.commission_amount, old.paid_at)
          is distinct from (new.status, new.commission_amount, new.paid_at)
    ) execute function record_commission_month()`.execute(db);
  await sql`
    insert into partner_commission_months (partner_id, merchant_id, month, cents)
    select partner_id, merchant_id, date_trunc('month', paid_at at time zone 'UTC'),
           sum(commission_amount)
    from payments
    where partner_id is not null and status = 'successful' and commission_amount <> 0
    group by 1, 2, 3`.execute(db);
}
