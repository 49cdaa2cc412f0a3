import { type RawBuilder, sql } from 'kysely';
import { type BoundColumns, bindRows, selectBoundRows } from '../../database/bound-rows.ts';
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

/** Columns of `payments` that a creation sets, with their types. A list of networks is a text with commas. */
const PAYMENT_TYPES = {
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
  offered_blockchain_ids: 'text',
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

const PAYMENT_NAMES = Object.keys(PAYMENT_TYPES) as (keyof typeof PAYMENT_TYPES)[];

/** What every creation binds, except the data of its event. */
const COLUMNS: BoundColumns<Creation> = {
  ...Object.fromEntries(
    PAYMENT_NAMES.map(name => [
      name,
      [PAYMENT_TYPES[name], ({ payment }: Creation) => payment[name]],
    ]),
  ),
  // An array of arrays would have to be rectangular.
  offered_blockchain_ids: ['text', ({ payment }) => payment.offered_blockchain_ids.join()],
  event_id: ['uuid', ({ event }) => event.id],
  event_type: ['text', ({ event }) => event.type],
  traceparent: ['text', ({ event }) => event.traceparent],
  tracestate: ['text', ({ event }) => event.tracestate],
};

/** What a creation without an idempotency key binds. */
const ALONE_COLUMNS: BoundColumns<Creation> = {
  ...COLUMNS,
  event_data: ['text', ({ event }) => event.data],
};

/** A claimed creation in its batch. */
interface Placed {
  readonly creation: ClaimedCreation;
  readonly lockName: string;
  readonly place: number;
  /** Where the body's hash, the response and the event's data begin, and where the data ends, in the bytes of all. */
  readonly hashFrom: number;
  readonly responseFrom: number;
  readonly dataFrom: number;
  readonly dataEnd: number;
}

/**
 * What a creation binds beside the claim on its idempotency key. Bytes are bound together, since an array of them would
 * take two characters for each byte; so is the event's data, of which an array would escape every quote.
 */
const CLAIMED_COLUMNS: BoundColumns<Placed> = {
  ...Object.fromEntries(
    Object.entries(COLUMNS).map(([name, [type, value]]) => [
      name,
      [type, ({ creation }: Placed) => value(creation)],
    ]),
  ),
  place: ['integer', ({ place }) => place],
  lock_name: ['text', ({ lockName }) => lockName],
  account_id: ['uuid', ({ creation }) => creation.scope.accountId],
  route: ['text', ({ creation }) => creation.scope.route],
  key: ['text', ({ creation }) => creation.scope.key],
  hash_from: ['integer', ({ hashFrom }) => hashFrom],
  response_from: ['integer', ({ responseFrom }) => responseFrom],
  data_from: ['integer', ({ dataFrom }) => dataFrom],
  data_end: ['integer', ({ dataEnd }) => dataEnd],
  http_status: ['smallint', ({ creation }) => creation.response.status],
  response_key_version: ['integer', ({ creation }) => creation.response.masterKeyVersion],
  kept_from: ['timestamptz', ({ creation }) => creation.now],
  kept_until: ['timestamptz', ({ creation }) => creation.expiresAt],
};

/** An array for each column, and `bytes`: hash, response and event's data of each row, one after the other. */
type BoundCreations = Readonly<Record<string, unknown>>;

/**
 * The steps `payment`, `event` and `delivery` for all rows of `source`.
 * @param data The data of a creation's event, as text, and what it is read from beside the creation.
 */
function creationSteps(
  source: RawBuilder<unknown>,
  data: { readonly text: RawBuilder<unknown>; readonly from: RawBuilder<unknown> },
): RawBuilder<unknown> {
  const names = PAYMENT_NAMES.map(name => sql.ref(name));
  const values = PAYMENT_NAMES.map(name =>
    name === 'offered_blockchain_ids'
      ? sql`string_to_array(creation.offered_blockchain_ids, ',')`
      : sql.ref(`creation.${name}`),
  );
  return sql`
    payment as (
      insert into payments (${sql.join(names)}) select ${sql.join(values)} from ${source}
      returning id, merchant_id, created_at),
    ${eventSteps(sql`
      select event_id, payment.merchant_id, payment.id, event_type, payment.created_at,
             ${data.text}::json, traceparent, tracestate
      from payment join creation on creation.id = payment.id ${data.from}`)}`;
}

const createPayment = prepare(
  'create_payment',
  (_db, given: Given<BoundCreations>) => sql<never>`
    with creation as materialized (${selectBoundRows(ALONE_COLUMNS, given)}),
    ${creationSteps(sql`creation`, { text: sql`event_data`, from: sql`` })}
    select`,
);

/**
 * Creates the payments whose keys it can claim: those whose lock it gets and that have no response
 * stored. A lock that is taken means that another request is executing under the key; a batch has each key
 * once, since a transaction gets a lock that it already holds. A request that comes after that one has committed
 * conflicts with its row, even if this statement's snapshot does not show the row.
 */
export const createPaymentsOnce = prepare(
  'create_payments_once',
  (_db, given: Given<BoundCreations>) => sql<{
    place: number;
    locked: boolean;
    claimed: boolean;
  }>`
    with creation as materialized (${selectBoundRows(CLAIMED_COLUMNS, given)}),
    kept_bytes as not materialized (select ${given('bytes')}::bytea as bytes),
    attempt as materialized (
      select place, pg_try_advisory_xact_lock(hashtextextended(lock_name, 0)) as locked
      from creation),
    claim as (
      insert into idempotency_keys as kept
        (account_id, route, key, body_sha256, status, body, master_key_version, created_at,
         expires_at)
      select account_id, route, key, substr(bytes, hash_from, response_from - hash_from), http_status,
             substr(bytes, response_from, data_from - response_from), response_key_version,
             kept_from, kept_until
      from creation join attempt using (place) cross join kept_bytes where locked
      on conflict (account_id, route, key) do update set
        body_sha256 = excluded.body_sha256, status = excluded.status, body = excluded.body,
        master_key_version = excluded.master_key_version, created_at = excluded.created_at, expires_at = excluded.expires_at
      where kept.expires_at <= excluded.created_at
      returning account_id, route, key),
    ${creationSteps(
      sql`creation join attempt using (place) join claim using (account_id, route, key) where locked`,
      {
        text: sql`convert_from(substr(bytes, data_from, data_end - data_from), 'UTF8')`,
        from: sql`cross join kept_bytes`,
      },
    )}
    select place, locked, payment.id is not null as claimed
    from creation join attempt using (place) left join payment on payment.id = creation.id`,
);

/** Writes a payment with its first event and the deliveries of it, in one statement. */
export async function insertCreation(db: Connection, creation: Creation): Promise<void> {
  await createPayment(db, bindRows(ALONE_COLUMNS, [creation]));
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
  const byLock = new Map<string, ClaimedCreation>();
  for (const creation of all) {
    const lockName = lockNameOf(creation.scope);
    if (!byLock.has(lockName)) byLock.set(lockName, creation);
  }
  const rows = await createPaymentsOnce(db, toCreations(byLock));
  if (rows.length !== byLock.size) throw new Error('a creation has no result');
  const firsts = [...byLock.values()];
  const rowOf = new Map(rows.map(row => [firsts[row.place], row]));
  return all.map(creation => {
    const row = rowOf.get(creation);
    // A request under the same key may be in the same batch.
    if (row === undefined || !row.locked) return 'in progress';
    return row.claimed ? 'created' : 'finished';
  });
}

/**
 * The values that `createPaymentsOnce` binds.
 * @param byLock The creations by the names of their locks; the place of each is its place among them.
 */
export function toCreations(byLock: ReadonlyMap<string, ClaimedCreation>): BoundCreations {
  const bytes: Buffer[] = [];
  // PostgreSQL counts from 1.
  let end = 1;
  const append = (some: Buffer) => {
    bytes.push(some);
    end += some.length;
    return end - some.length;
  };
  const rows = Array.from(byLock, ([lockName, creation], place): Placed => {
    const hashFrom = append(creation.response.bodySha256);
    const responseFrom = append(creation.response.body);
    const dataFrom = append(Buffer.from(creation.event.data));
    return { creation, lockName, place, hashFrom, responseFrom, dataFrom, dataEnd: end };
  });
  return { ...bindRows(CLAIMED_COLUMNS, rows), bytes: Buffer.concat(bytes) };
}
