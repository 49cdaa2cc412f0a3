import { type Kysely, sql } from 'kysely';

/**
 * Payments, their history and the events told to merchants.
 *
 * The database itself keeps what money depends on: a status leaves `pending` once and for good, a
 * payment whose funds were seen neither expires nor is cancelled, what was agreed at creation never
 * changes, and history is only ever added to.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`
    create table payments (
      id uuid primary key,
      merchant_id uuid not null references merchants (id),
      branch_id uuid not null references branches (id),
      partner_id uuid references partners (id),
      created_by text not null,
      flow text not null check (flow in ('crypto', 'regulated')),
      amount bigint not null check (amount > 0),
      commission_amount bigint check (commission_amount >= 0),
      commission_bps integer not null check (commission_bps between 0 and 10000),
      commission_payer text not null check (commission_payer in ('merchant', 'shopper')),
      settlement_model text check (settlement_model in ('split', 'direct')),
      status text not null default 'pending'
        check (status in ('pending', 'successful', 'unsuccessful', 'expired', 'cancelled')),
      session_status text not null default 'pending'
        check (session_status in ('pending', 'cancelled', 'expired', 'completed')),
      offered_blockchain_ids text[] not null,
      blockchain_id text references networks (id),
      address text,
      token_amount numeric(78, 0) check (token_amount > 0),
      token_decimals smallint,
      transaction_hash text,
      paid_at timestamptz(3),
      expires_at timestamptz(3) not null,
      created_at timestamptz(3) not null,
      redirect_url text,
      customer_reference_id text,
      note text,
      cancellation_reason text,
      last_error_code text,
      last_error_message text,
      last_error_at timestamptz(3),
      processor text,
      external_id text,
      checkout_token_hash bytea,
      constraint payments_session check ((status, session_status) in (
        ('pending', 'pending'), ('pending', 'completed'), ('successful', 'completed'),
        ('unsuccessful', 'completed'), ('unsuccessful', 'expired'), ('expired', 'expired'),
        ('cancelled', 'cancelled'))),
      constraint payments_regulated check (flow = 'crypto' or num_nonnulls(
        settlement_model, blockchain_id, token_amount) = 0),
      constraint payments_crypto check (flow = 'regulated' or settlement_model is not null),
      constraint payments_token check (num_nonnulls(token_amount, token_decimals) in (0, 2)),
      constraint payments_paid check ((status = 'successful') = (paid_at is not null)),
      constraint payments_last_error check (num_nonnulls(
        last_error_code, last_error_message, last_error_at) in (0, 3))
    )`.execute(db);
  await sql`create index payments_list on payments (merchant_id, created_at desc, id desc)`.execute(
    db,
  );
  await sql`
    create index payments_list_status
    on payments (merchant_id, status, created_at desc, id desc)`.execute(db);
  await sql`
    create index payments_list_reference
    on payments (merchant_id, customer_reference_id, created_at desc, id desc)
    where customer_reference_id is not null`.execute(db);
  await sql`
    create unique index payments_checkout_token on payments (checkout_token_hash)
    where checkout_token_hash is not null`.execute(db);
  await sql`
    create unique index payments_external on payments (processor, external_id)
    where external_id is not null`.execute(db);
  await sql`create index payments_due on payments (expires_at) where status = 'pending'`.execute(
    db,
  );

  await sql`
    create function guard_payment() returns trigger language plpgsql as $$
    begin
      if (new.status, new.session_status) is distinct from (old.status, old.session_status) then
        if old.status <> 'pending' then
          raise exception 'payment % is % and cannot become %/%',
            old.id, old.status, new.status, new.session_status
            using errcode = 'integrity_constraint_violation';
        end if;
        if old.session_status = 'completed' and new.session_status in ('expired', 'cancelled') then
          raise exception 'funds were seen for payment %, which cannot become %',
            old.id, new.session_status
            using errcode = 'integrity_constraint_violation';
        end if;
      end if;
      if (new.id, new.merchant_id, new.partner_id, new.flow, new.amount, new.commission_bps,
          new.commission_payer, new.settlement_model, new.created_at)
         is distinct from
         (old.id, old.merchant_id, old.partner_id, old.flow, old.amount, old.commission_bps,
          old.commission_payer, old.settlement_model, old.created_at) then
        raise exception 'what was agreed when payment % was created is fixed', old.id
          using errcode = 'integrity_constraint_violation';
      end if;
      return new;
    end $$`.execute(db);
  await sql`
    create trigger payments_guard before update on payments
    for each row execute function guard_payment()`.execute(db);
  await sql`
    create trigger payments_keep before delete or truncate on payments
    for each statement execute function refuse_change()`.execute(db);

  await sql`
    create table payment_transitions (
      id uuid primary key,
      payment_id uuid not null references payments (id),
      from_status text not null,
      from_session_status text not null,
      to_status text not null,
      to_session_status text not null,
      at timestamptz(3) not null,
      actor text not null,
      reason text not null
    )`.execute(db);
  await sql`create index payment_transitions_payment on payment_transitions (payment_id, at)`.execute(
    db,
  );
  await sql`
    create trigger payment_transitions_append_only
    before update or delete or truncate on payment_transitions
    for each statement execute function refuse_change()`.execute(db);

  // json, not jsonb: a snapshot is told as it was written, key order included.
  await sql`
    create table events (
      id uuid primary key,
      merchant_id uuid not null references merchants (id),
      payment_id uuid not null references payments (id),
      type text not null,
      created_at timestamptz(3) not null,
      data json not null
    )`.execute(db);
  await sql`create index events_payment on events (payment_id, created_at)`.execute(db);
  await sql`
    create trigger events_append_only before update or delete or truncate on events
    for each statement execute function refuse_change()`.execute(db);
}
