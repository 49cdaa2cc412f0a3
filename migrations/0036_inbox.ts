import { type Kysely, sql } from 'kysely';

/**
 * What deposits that no payment took are worth and what was done with them, whom one of too little was meant
 * to be assigned to, and which deposits deviate from what a payment asked for.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`
    alter table deposits
      add column usd_price numeric(78, 0),
      add column priced_at timestamptz(3),
      add column value_cents bigint,
      add column remedy text,
      add column remedy_to text,
      add column remedy_hash text,
      add column remedy_note text`.execute(db);
  // Not validated: the columns are new and empty, so that no row can break it.
  await sql`
    alter table deposits
      add constraint deposits_remedy_check check (
        remedy in ('returned', 'kept', 'other') and (remedy = 'returned') = (remedy_to is not null)
        and (remedy = 'returned') = (remedy_hash is not null)) not valid`.execute(db);
  // The largest come first; before them those whose value is not known yet.
  await sql`
    create index deposits_inbox
    on deposits (blockchain_id, address, coalesce(value_cents, 9223372036854775807) desc, id desc)
    where payment_id is null and dismissed_at is null and state in ('seen', 'final')`.execute(db);
  await sql`
    create index deposits_unpriced on deposits (blockchain_id, observed_at)
    where payment_id is null and dismissed_at is null and state in ('seen', 'final')
      and usd_price is null`.execute(db);

  await sql`
    create table asked_assignments (
      deposit_id uuid primary key references deposits (id),
      payment_id uuid not null references payments (id),
      person_id uuid not null references people (id),
      asked_at timestamptz(3) not null
    )`.execute(db);

  await noteDeviations(db);
}

/**
 * One row for each deposit and payment where the deposit is not simply what the payment asked for: too
 * little, too much, or exactly its amount after it was paid or up to 24 hours after it had ended. They are
 * candidates: a list reads them in the order of the payments and looks at what is true now.
 *
 * Without foreign keys, whose locks on other payments could deadlock with those of settlement.
 */
async function noteDeviations(db: Kysely<unknown>): Promise<void> {
  await sql`
    create table deviating_deposits (
      deposit_id uuid not null,
      payment_id uuid not null,
      kind text not null check (kind in ('under', 'over', 'late', 'duplicate')),
      merchant_id uuid not null,
      created_at timestamptz(3) not null,
      primary key (deposit_id, payment_id, kind)
    )`.execute(db);
  await sql`
    create index deviating_deposits_payment on deviating_deposits (payment_id)`.execute(db);
  await sql`
    create index deviating_deposits_list
    on deviating_deposits (merchant_id, kind, created_at desc, payment_id desc)`.execute(db);

  await sql`
    create function deviations_of(given deposits)
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
        union all
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
          and (held.released_at is null or held.released_at
               > coalesce(given.occurred_at, given.observed_at) - interval '24 hours')
      ) as meant (payment_id, kind)
      join payments on payments.id = meant.payment_id
      cross join lateral (
        select coalesce(meant.kind, case
          when given.outcome = 'duplicate' or payments.status = 'successful' then 'duplicate'
          else 'late' end) as kind
      ) as found
    $$`.execute(db);
  await sql`
    create function note_deviations() returns trigger language plpgsql as $$
    begin
      delete from deviating_deposits where deposit_id = new.id;
      insert into deviating_deposits (deposit_id, payment_id, kind, merchant_id, created_at)
      select new.id, payment_id, kind, merchant_id, created_at from deviations_of(new);
      return null;
    end $$`.execute(db);
  // An exact one, as nearly all are, costs nothing.
  await sql`
    create trigger deposits_deviations after insert or update of outcome, payment_id on deposits
    for each row when (new.outcome <> 'exact') execute function note_deviations()`.execute(db);
  await sql`
    insert into deviating_deposits (deposit_id, payment_id, kind, merchant_id, created_at)
    select deposits.id, found.payment_id, found.kind, found.merchant_id, found.created_at
    from deposits cross join lateral deviations_of(deposits) as found
    where outcome <> 'exact'`.execute(db);
}
