import { type RawBuilder, sql } from 'kysely';
import type { Connection } from '../../database/connection.ts';
import type { Payment } from '../../database/payment-tables.ts';
import { type Given, prepare } from '../../database/prepared.ts';
import { eventSteps, type NewEvent } from './events.ts';
import type { IdempotencyScope, StoredResponse } from './idempotency-keys.ts';
import { lockNameOf } from './idempotency-keys.ts';

/** A payment and its first event. */
export interface Creation {
  readonly payment: Payment;
  readonly event: NewEvent;
}

/** A creation under an idempotency key, with the response that will be replayed. */
export interface ClaimedCreation extends Creation {
  readonly scope: IdempotencyScope;
  readonly response: StoredResponse;
  readonly now: Date;
  readonly expiresAt: Date;
}

/** `created`, or why not: another request is executing under the key, or has executed under it. */
export type Written = 'created' | 'in progress' | 'finished';

/** Columns of `payments` that a creation sets, with their types. */
const PAYMENT_COLUMNS = {
  id: 'uuid',
  merchant_id: 'uuid',
  branch_id: 'uuid',
  partner_id: 'uuid',
  created_by: 'text',
  flow: 'text',
  amount: 'bigint',
  commission_amount: 'bigint',
  commission_bps: 'integer',
  commission_payer: 'text',
  settlement_model: 'text',
  offered_blockchain_ids: 'text[]',
  expires_at: 'timestamptz',
  created_at: 'timestamptz',
  redirect_url: 'text',
  customer_reference_id: 'text',
  note: 'text',
  processor: 'text',
  external_id: 'text',
  checkout_token_hash: 'bytea',
  expiry_fixed: 'boolean',
  inquire_at: 'timestamptz',
} as const satisfies Partial<Record<keyof Payment, string>>;

const PAYMENT_NAMES = Object.keys(PAYMENT_COLUMNS) as (keyof typeof PAYMENT_COLUMNS)[];

/** Columns of the event, with their types. */
const EVENT_COLUMNS = {
  event_id: 'uuid',
  event_type: 'text',
  event_data: 'text',
  traceparent: 'text',
  tracestate: 'text',
} as const;

/**
 * Columns of the claim on the idempotency key, with their types. Bytes are bound beside the JSON, which would take two
 * characters for each byte: these columns have the offsets at which the body's hash and the response begin and end.
 */
const CLAIM_COLUMNS = {
  place: 'integer',
  lock_name: 'text',
  account_id: 'uuid',
  route: 'text',
  key: 'text',
  hash_from: 'integer',
  response_from: 'integer',
  response_end: 'integer',
  http_status: 'smallint',
  response_key_version: 'integer',
  kept_from: 'timestamptz',
  kept_until: 'timestamptz',
} as const;

type Columns = Readonly<Record<string, string>>;
type Row<C extends Columns> = Readonly<Record<keyof C, unknown>>;

interface Creations {
  /** JSON of a list of rows. */
  readonly creations: string;
}

interface ClaimedCreations extends Creations {
  /** Hashes and responses of all rows, one after the other. */
  readonly bytes: Buffer;
}

/** The step `creation`: rows from a JSON list, which binds any number of them as one value. */
function creationRows(given: Given<Creations>, columns: Columns): RawBuilder<unknown> {
  const names = Object.keys(columns).map(name => sql.ref(name));
  const types = Object.entries(columns).map(
    ([name, type]) => sql`${sql.ref(name)} ${sql.raw(type)}`,
  );
  return sql`
    creation as materialized (
      select ${sql.join(names)} from json_to_recordset(${given('creations')}::json) as row (${sql.join(types)}))`;
}

/** The steps `payment`, `event` and `delivery` for all rows of `source`. */
function creationSteps(source: RawBuilder<unknown>): RawBuilder<unknown> {
  const names = PAYMENT_NAMES.map(name => sql.ref(name));
  const values = PAYMENT_NAMES.map(name => sql.ref(`creation.${name}`));
  return sql`
    payment as (
      insert into payments (${sql.join(names)}) select ${sql.join(values)} from ${source}
      returning id, merchant_id, created_at),
    ${eventSteps(sql`
      select event_id, payment.merchant_id, payment.id, event_type, payment.created_at,
             event_data::json, traceparent, tracestate
      from payment join creation on creation.id = payment.id`)}`;
}

const createPayment = prepare(
  'create_payment',
  (_db, given: Given<Creations>) => sql<never>`
    with ${creationRows(given, { ...PAYMENT_COLUMNS, ...EVENT_COLUMNS })},
    ${creationSteps(sql`creation`)}
    select`,
);

/**
 * Creates the payments whose keys it can claim: those whose lock it gets and that have no response
 * stored. A lock that is taken means that another request is executing under the key; among rows with
 * one key the first gets it. A request that comes after that one has committed conflicts with its row,
 * even if this statement's snapshot does not show the row.
 */
export const createPaymentsOnce = prepare(
  'create_payments_once',
  (_db, given: Given<ClaimedCreations>) => sql<{
    place: number;
    locked: boolean;
    claimed: boolean;
  }>`
    with ${creationRows(given, { ...PAYMENT_COLUMNS, ...EVENT_COLUMNS, ...CLAIM_COLUMNS })},
    kept_bytes as materialized (select ${given('bytes')}::bytea as bytes),
    attempt as materialized (
      select place, is_first and pg_try_advisory_xact_lock(hashtextextended(lock_name, 0)) as locked
      from (
        select place, lock_name,
               row_number() over (partition by lock_name order by place) = 1 as is_first
        from creation) as claimant),
    claim as (
      insert into idempotency_keys as kept
        (account_id, route, key, body_sha256, status, body, master_key_version, created_at,
         expires_at)
      select account_id, route, key, substr(bytes, hash_from, response_from - hash_from), http_status,
             substr(bytes, response_from, response_end - response_from), response_key_version,
             kept_from, kept_until
      from creation join attempt using (place) cross join kept_bytes where locked
      on conflict (account_id, route, key) do update set
        body_sha256 = excluded.body_sha256, status = excluded.status, body = excluded.body,
        master_key_version = excluded.master_key_version, created_at = excluded.created_at, expires_at = excluded.expires_at
      where kept.expires_at <= excluded.created_at
      returning account_id, route, key),
    ${creationSteps(sql`
      creation join attempt using (place) join claim using (account_id, route, key) where locked`)}
    select place, locked, payment.id is not null as claimed
    from creation join attempt using (place) left join payment on payment.id = creation.id`,
);

/** Writes a payment with its first event and the deliveries of it, in one statement. */
export async function insertCreation(db: Connection, creation: Creation): Promise<void> {
  await createPayment(db, { creations: JSON.stringify([creationRow(creation)]) });
}

/**
 * Writes payments with their events and deliveries, and the responses under their idempotency keys,
 * in one statement that commits by itself: each payment with all of it, or nothing of it.
 * @returns The result for each, in order.
 */
export async function insertCreationsOnce(
  db: Connection,
  all: readonly ClaimedCreation[],
): Promise<Written[]> {
  const rows = await createPaymentsOnce(db, toCreations(all));
  const byPlace = new Map(rows.map(row => [row.place, row]));
  return all.map((_, place) => {
    const row = byPlace.get(place);
    if (row === undefined) throw new Error('a creation has no result');
    if (!row.locked) return 'in progress';
    return row.claimed ? 'created' : 'finished';
  });
}

/** The values that `createPaymentsOnce` binds. */
export function toCreations(all: readonly ClaimedCreation[]): ClaimedCreations {
  const bytes: Buffer[] = [];
  // PostgreSQL counts from 1.
  let end = 1;
  const place = (some: Buffer) => {
    bytes.push(some);
    end += some.length;
    return end - some.length;
  };
  const rows = all.map((each, index) => {
    const { bodySha256, body } = each.response;
    const places = { hash_from: place(bodySha256), response_from: place(body), response_end: end };
    return { ...creationRow(each), ...claimRow(each, index), ...places };
  });
  return { creations: JSON.stringify(rows), bytes: Buffer.concat(bytes) };
}

function creationRow({
  payment,
  event,
}: Creation): Row<typeof PAYMENT_COLUMNS & typeof EVENT_COLUMNS> {
  const columns = PAYMENT_NAMES.map(name => [name, payment[name]]);
  return {
    ...Object.fromEntries(columns),
    checkout_token_hash: toHex(payment.checkout_token_hash),
    event_id: event.id,
    event_type: event.type,
    event_data: event.data,
    traceparent: event.traceparent,
    tracestate: event.tracestate,
  };
}

function claimRow(
  { scope, response, now, expiresAt }: ClaimedCreation,
  place: number,
): Omit<Row<typeof CLAIM_COLUMNS>, 'hash_from' | 'response_from' | 'response_end'> {
  return {
    place,
    lock_name: lockNameOf(scope),
    account_id: scope.accountId,
    route: scope.route,
    key: scope.key,
    http_status: response.status,
    response_key_version: response.masterKeyVersion,
    kept_from: now,
    kept_until: expiresAt,
  };
}

/** Bytes as PostgreSQL reads them from text. */
function toHex(bytes: Buffer | null): string | null {
  return bytes === null ? null : `\\x${bytes.toString('hex')}`;
}
