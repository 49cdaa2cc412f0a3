import { type Kysely, sql } from 'kysely';

/**
 * What is recorded for amounts that wallets cut short, for rests that are too small to send, and for payers who change
 * their mind.
 *
 * - `reservations.cut_from`, `alone_from`: the least that settles the amount, if a wallet has cut it short, and if no other
 *   payment waits at the address. The previous release asks for amounts without them: none settles but the whole.
 * - `networks.least_amount`: the least that an operator lets payers be asked for.
 * - The outcome `superseded`: what its payment asked for before it got another quote.
 */
export const steps = [
  addLeastAmounts,
  // A payment expires only once all that was asked for it has been watched for.
  {
    index: 'reservations_former',
    on: 'on reservations (payment_id) where released_at is not null',
  },
  addNetworksLeast,
  admitSuperseded,
  noteSuperseded,
];

async function addLeastAmounts(db: Kysely<unknown>): Promise<void> {
  await sql`
    alter table reservations add column cut_from numeric(78, 0), add column alone_from numeric(78, 0)`.execute(
    db,
  );
}

async function addNetworksLeast(db: Kysely<unknown>): Promise<void> {
  await sql`
    alter table networks add column least_amount numeric(78, 0) check (least_amount > 0)`.execute(
    db,
  );
}

/** The rows obey the narrower check that this replaces, and so in the next step. */
async function admitSuperseded(db: Kysely<unknown>): Promise<void> {
  await sql`
    alter table deposits drop constraint deposits_outcome_check,
      add constraint deposits_outcome_check check (outcome in
        ('exact', 'over', 'tolerated', 'under', 'rest', 'late', 'duplicate', 'ambiguous', 'unknown',
         'superseded', 'assigned')) not valid`.execute(db);
}

async function noteSuperseded(db: Kysely<unknown>): Promise<void> {
  await sql`
    alter table deviating_deposits drop constraint deviating_deposits_kind_check,
      add constraint deviating_deposits_kind_check check (kind in
        ('under', 'over', 'late', 'duplicate', 'superseded', 'left')) not valid`.execute(db);
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
          and (held.released_at is null or given.outcome = 'superseded' or held.released_at
               > coalesce(given.occurred_at, given.observed_at) - interval '24 hours')
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
