import { type RawBuilder, sql } from 'kysely';
import type { Connection } from '../database/connection.ts';
import { type Given, prepare } from '../database/prepared.ts';
import type { Payment } from '../database/tables.ts';
import { eventSteps, type NewEvent } from './events.ts';
import type { IdempotencyScope, StoredResponse } from './idempotency-keys.ts';
import { lockNameOf } from './idempotency-keys.ts';

/** What a creation writes. */
export interface Creation {
  readonly payment: Payment;
  readonly event: NewEvent;
}

/** The claim of an idempotency key, with the response that will be replayed. */
export interface Claim {
  readonly scope: IdempotencyScope;
  readonly response: StoredResponse;
  readonly now: Date;
  readonly expiresAt: Date;
}

/** Columns that a creation sets, with their types: a statement that selects its values needs them. */
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
} as const satisfies Partial<Record<keyof Payment, string>>;

interface CreationValues extends Payment {
  readonly eventId: string;
  readonly eventType: string;
  readonly eventData: string;
  readonly traceparent: string | null;
  readonly tracestate: string | null;
}

interface ClaimValues extends IdempotencyScope {
  readonly lockName: string;
  readonly bodySha256: Buffer;
  readonly httpStatus: number;
  readonly body: Buffer;
  readonly now: Date;
  readonly keptUntil: Date;
}

/** `payment`, `event`, `delivery` and `job`: as many payments as `source` has rows, one or none. */
function creationSteps(given: Given<CreationValues>, source: RawBuilder<unknown>) {
  const columns = Object.entries(PAYMENT_COLUMNS) as [keyof typeof PAYMENT_COLUMNS, string][];
  const names = columns.map(([name]) => sql.ref(name));
  const values = columns.map(([name, type]) => sql`${given(name)}::${sql.raw(type)}`);
  const event = sql`
    select ${given('eventId')}::uuid, merchant_id, id, ${given('eventType')}::text, created_at,
           ${given('eventData')}::json, ${given('traceparent')}::text,
           ${given('tracestate')}::text
    from payment`;
  return sql`
    payment as (
      insert into payments (${sql.join(names)}) select ${sql.join(values)} ${source}
      returning id, merchant_id, created_at),
    ${eventSteps(event)}`;
}

const createPayment = prepare(
  'create_payment',
  (_db, given: Given<CreationValues>) => sql<{ jobs: number }>`
    with ${creationSteps(given, sql``)}
    select count(*) as jobs from job`,
);

/**
 * The claim is what makes a payment: without the lock, or over a response that is still kept, there
 * is none. The lock only tells at once that another request is at it; who comes after that one has
 * committed finds its row, whatever this statement's snapshot shows.
 */
export const createPaymentOnce = prepare(
  'create_payment_once',
  (_db, given: Given<CreationValues & ClaimValues>) => sql<{ locked: boolean; claimed: boolean }>`
    with attempt as materialized (
      select pg_try_advisory_xact_lock(hashtextextended(${given('lockName')}, 0)) as locked),
    claim as (
      insert into idempotency_keys as kept
        (account_id, route, key, body_sha256, status, body, created_at, expires_at)
      select ${given('accountId')}::uuid, ${given('route')}::text, ${given('key')}::text,
             ${given('bodySha256')}::bytea, ${given('httpStatus')}::smallint,
             ${given('body')}::bytea, ${given('now')}::timestamptz,
             ${given('keptUntil')}::timestamptz
      from attempt where locked
      on conflict (account_id, route, key) do update set
        body_sha256 = excluded.body_sha256, status = excluded.status, body = excluded.body,
        created_at = excluded.created_at, expires_at = excluded.expires_at
      where kept.expires_at <= excluded.created_at
      returning 1),
    ${creationSteps(given, sql`from claim`)}
    select locked, exists (select from payment) as claimed, (select count(*) from job) as jobs
    from attempt`,
);

/** Writes a payment with its first event, the deliveries of it and their jobs, in one statement. */
export async function insertCreation(db: Connection, creation: Creation): Promise<void> {
  await createPayment(db, creationValues(creation));
}

/**
 * Writes a payment, everything that goes with it and the response under an idempotency key, all of it
 * or nothing, in one statement that commits by itself.
 * @returns `created`; or why nothing was written: another request with the key is `in progress`, or
 * has `finished` and its response is kept.
 */
export async function insertCreationOnce(
  db: Connection,
  creation: Creation,
  claim: Claim,
): Promise<'created' | 'in progress' | 'finished'> {
  const [row] = await createPaymentOnce(db, claimedValues(creation, claim));
  if (row?.locked !== true) return 'in progress';
  return row.claimed ? 'created' : 'finished';
}

/** Values of `createPaymentOnce`. */
export function claimedValues(
  creation: Creation,
  { scope, response, now, expiresAt }: Claim,
): CreationValues & ClaimValues {
  return {
    ...creationValues(creation),
    ...scope,
    lockName: lockNameOf(scope),
    bodySha256: response.bodySha256,
    httpStatus: response.status,
    body: response.body,
    now,
    keptUntil: expiresAt,
  };
}

function creationValues({ payment, event }: Creation): CreationValues {
  const { id: eventId, type: eventType, data: eventData, traceparent, tracestate } = event;
  return { ...payment, eventId, eventType, eventData, traceparent, tracestate };
}
