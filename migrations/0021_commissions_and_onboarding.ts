import { type Kysely, sql } from 'kysely';

/**
 * Commission totals of partner reports, and when a merchant's onboarding last changed.
 *
 * Commissions have deltas of their own: the previous release folds `partner_deltas` without knowing of
 * them. It leaves these tables alone, so the figures stay exact while its workers run. A payment counts
 * when it becomes successful, and if its commission changes then. Writers of payments wait until the
 * sums of the existing payments are committed with the triggers; readers do not.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`
    create table partner_commission_deltas (
      id bigint generated always as identity primary key,
      partner_id uuid not null,
      merchant_id uuid not null,
      cents bigint not null
    ) with (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 5000)`.execute(db);
  await sql`
    create index partner_commission_deltas_partner
    on partner_commission_deltas (partner_id)`.execute(db);
  await sql`
    create table partner_commissions (
      partner_id uuid not null,
      merchant_id uuid not null,
      cents bigint not null,
      primary key (partner_id, merchant_id)
    ) with (fillfactor = 70)`.execute(db);

  await sql`
    create function record_commission_delta() returns trigger language plpgsql as $$
    declare
      before bigint := 0;
    begin
      if tg_op = 'UPDATE' and old.status = 'successful' then
        before := coalesce(old.commission_amount, 0);
      end if;
      insert into partner_commission_deltas (partner_id, merchant_id, cents)
      values (new.partner_id, new.merchant_id, coalesce(new.commission_amount, 0) - before);
      return null;
    end $$`.execute(db);
  await sql`
    create trigger payments_commission_insert after insert on payments
    for each row when (
      new.partner_id is not null and new.status = 'successful' and new.commission_amount <> 0
    ) execute function record_commission_delta()`.execute(db);
  // No payment leaves `successful`, so only the new status has to be looked at.
  await sql`
    create trigger payments_commission_update after update of status, commission_amount on payments
    for each row when (
      new.partner_id is not null and new.status = 'successful'
      and coalesce(new.commission_amount, 0)
          <> case old.status when 'successful' then coalesce(old.commission_amount, 0) else 0 end
    ) execute function record_commission_delta()`.execute(db);
  await sql`
    insert into partner_commissions (partner_id, merchant_id, cents)
    select partner_id, merchant_id, sum(commission_amount) from payments
    where partner_id is not null and status = 'successful' and commission_amount <> 0
    group by 1, 2`.execute(db);

  await sql`alter table merchants add column onboarding_changed_at timestamptz(3)`.execute(db);
  // The audit log tells when, also which commands set a status that the merchant already had.
  await sql`
    update merchants set onboarding_changed_at = latest.at
    from (
      select distinct on (merchant_id) merchant_id, status, at, entry
      from (
        select *, lag(status) over (partition by merchant_id order by at, entry) as before
        from (
          select id as merchant_id, created_at as at, '' as entry,
                 case account_kind when 'us' then 'pending' else 'approved' end as status
          from merchants
          union all
          select merchants.id, audit_log.at, audit_log.id::text,
                 audit_log.detail ->> 'onboarding_status'
          from merchants join audit_log on audit_log.object_id = merchants.id::text
          where action = 'merchant.set' and detail ? 'onboarding_status'
        ) as known
      ) as step
      where status is distinct from before
      order by merchant_id, at desc, entry desc
    ) as latest
    where latest.merchant_id = merchants.id and latest.entry <> ''
      and latest.status = merchants.onboarding_status`.execute(db);
}
