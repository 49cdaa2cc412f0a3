import { type Kysely, sql } from 'kysely';

/**
 * What arrives at an address of a wallet that one payment alone was ever asked to pay to is meant for that payment,
 * whatever its amount and however late. Until now it had to be exactly the payment's amount, within a day.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`
    create or replace function deviations_of(given deposits)
    returns table (payment_id uuid, kind text, merchant_id uuid, created_at timestamptz)
    language sql stable as $$
      select payments.id, found.kind, payments.merchant_id, payments.created_at
      from (
        select given.payment_id, taken.kind
        from unnest(case given.outcome
                    when 'over' then array['over']
                    when 'under' then array['under', 'over']
                    when 'assigned' then array['under', 'over']
                    else array[]::text[] end) as taken (kind)
        where given.payment_id is not null
        union
        select held.payment_id, null
        from (
          select reservations.payment_id, released_at from reservations
          where blockchain_id = given.blockchain_id and address = given.address
            and token_amount = given.token_amount
            and reserved_at <= coalesce(given.occurred_at, given.observed_at)
          order by id desc limit 1
        ) as held
        where (given.payment_id is null or given.outcome = 'assigned')
          and held.payment_id is distinct from given.payment_id
          and (held.released_at is null or given.outcome = 'superseded' or held.released_at
               > coalesce(given.occurred_at, given.observed_at) - interval '24 hours')
        union
        select alone.payment_id, null
        from (
          select (array_agg(distinct reservations.payment_id))[1] as payment_id from reservations
          where blockchain_id = given.blockchain_id and address = given.address
          having count(distinct reservations.payment_id) = 1
        ) as alone
        where given.payment_id is null and given.outcome in ('late', 'duplicate', 'superseded')
          and exists (select from wallet_addresses
                      where wallet_addresses.blockchain_id = given.blockchain_id
                        and wallet_addresses.address = given.address)
      ) as meant (payment_id, kind)
      join payments on payments.id = meant.payment_id
      cross join lateral (
        select coalesce(meant.kind, case
          when given.outcome = 'superseded' then 'superseded'
          when given.outcome = 'duplicate' or payments.status = 'successful' then 'duplicate'
          else 'late' end) as kind
      ) as found
    $$`.execute(db);
}
