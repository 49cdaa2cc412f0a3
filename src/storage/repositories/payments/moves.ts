import { sql, type Updateable } from 'kysely';
import type { Connection } from '../../database/connection.ts';
import type {
  Payment,
  PaymentStatus,
  PaymentsTable,
  SessionStatus,
} from '../../database/payment-tables.ts';
import { PROMISED_UNTIL } from '../deposits/reservations.ts';
import { listBy, lockById } from '../rows.ts';

export type PaymentColumns = Updateable<PaymentsTable>;

/** The state of a payment: its status and the status of its checkout session. */
export interface PaymentState {
  readonly status: PaymentStatus;
  readonly session: SessionStatus;
}

/**
 * Updates those of the payments that are in one of the states; also returns the state each was in.
 * @param hashes By ID of the payment, its `transaction_hash`, if `columns` has one.
 */
export async function updatePaymentsFrom(
  db: Connection,
  hashes: Readonly<Record<string, string | null>>,
  states: readonly PaymentState[],
  columns: PaymentColumns,
): Promise<{ payment: Payment; before: PaymentState }[]> {
  const ids = Object.keys(hashes);
  const hash = sql<string>`${JSON.stringify(hashes)}::jsonb ->> payments.id::text`;
  const rows = await db
    .updateTable('payments')
    .from(
      db
        .selectFrom('payments')
        .select(['id as heldId', 'status as statusBefore', 'session_status as sessionBefore'])
        .where(({ eb, fn, val }) => eb('id', '=', fn.any(val(ids))))
        .where(({ and, or }) =>
          or(states.map(({ status, session }) => and({ status, session_status: session }))),
        )
        .orderBy('id')
        .forUpdate()
        .as('held'),
    )
    .set(columns.transaction_hash === undefined ? columns : { ...columns, transaction_hash: hash })
    .whereRef('payments.id', '=', 'held.heldId')
    .returningAll('payments')
    .returning(['held.statusBefore', 'held.sessionBefore'])
    .execute();
  return rows.map(({ statusBefore: status, sessionBefore: session, ...payment }) => ({
    payment,
    before: { status, session },
  }));
}

/** Updates columns of an open payment, without moving it; undefined if it is no longer open. */
export function updateOpenPayment(
  db: Connection,
  id: string,
  columns: PaymentColumns,
): Promise<Payment | undefined> {
  return db
    .updateTable('payments')
    .set(columns)
    .where('id', '=', id)
    .where('status', '=', 'pending')
    .where('session_status', '=', 'pending')
    .returningAll()
    .executeTakeFirst();
}

/** A payment's history, oldest first, at most 1,000 moves. */
export const listTransitions = listBy('payment_transitions', 'payment_id', ['at', 'id'], 1000);

export const lockPayment = lockById('payments');

/**
 * A query of the networks, with the time `until` which it is known of all payments on them whether they are paid: now,
 * where transfers are simulated; otherwise the chain's `expires_until`; null before it has been watched.
 */
export const known = (now: Date) => sql`
  select networks.id, settled_by,
         case when settled_by = 'simulation' or expires_until > ${now} then ${now}
              else expires_until end as until
  from networks join chains on chains.id = networks.chain`;

/**
 * Whether a payment has an underpayment that is seen and may still be undone, on any network: the payment may have
 * moved to another network since, or to none. What a watcher saw does not count once the chain has no node any more.
 */
export const MAY_BE_UNDONE = sql`
  exists (
    select from deposits join networks as seen_on on seen_on.id = deposits.blockchain_id
    where payment_id = payments.id and outcome = 'under' and deposits.state = 'seen'
      and (seen_on.settled_by <> 'simulation' or deposits.source = 'simulation'))`;

/**
 * Whether a network that a payment's customer has left is not watched yet up to the end of the payment, or of the price
 * that was promised there, whichever comes first: the customer may still have paid there.
 */
const mayBePaidElsewhere = (now: Date) => sql`
  exists (
    select from reservations as former
    join networks on networks.id = former.blockchain_id
    join (${known(now)}) as elsewhere on elsewhere.id = former.blockchain_id
    where former.payment_id = payments.id and former.released_at is not null
      and former.blockchain_id is distinct from payments.blockchain_id
      and coalesce(
        elsewhere.until < least(${PROMISED_UNTIL('former')}, payments.expires_at),
        elsewhere.settled_by = 'chain'))`;

/**
 * Whether there is an open finding of an unreadable transaction, or of an unexplained inflow, at an address where the
 * payment asked for something: that may have paid it.
 */
export const MAY_BE_PAID = sql`
  exists (
    select from findings
    where kind in ('unreadable', 'unexplained_inflow') and resolved_at is null and found_at >= payments.created_at
      and (findings.blockchain_id = payments.blockchain_id and findings.address = payments.address
        or exists (
          select from reservations as former
          where former.payment_id = payments.id and former.released_at is not null
            and former.blockchain_id = findings.blockchain_id and former.address = findings.address)))`;

/** A condition that only the payment with this ID meets; none without one. */
const isOnly = (paymentId: string | undefined) =>
  paymentId === undefined ? sql`` : sql`and payments.id = ${paymentId}`;

/**
 * Locks at most `limit` overdue on-chain payments without funds; skips rows locked by others. Those that
 * have to wait until their network is watched up to their end are not even read, since they may be many. Those
 * that an unreadable transaction or an unexplained inflow may have paid are left out.
 * @param paymentId Locks no other payment than this one, if it is given.
 * @returns IDs of the payments.
 */
export async function lockDuePayments(
  db: Connection,
  now: Date,
  limit: number,
  paymentId?: string,
): Promise<string[]> {
  const { rows } = await sql<{ id: string }>`
    select due.id
    from (
      ${known(now)} union all select '', 'simulation', ${now}::timestamptz
    ) as known cross join lateral (
      select id from payments
      where flow = 'crypto' and status = 'pending' and session_status = 'pending'
        and coalesce(blockchain_id, '') = known.id and expires_at <= known.until
        and not ${MAY_BE_UNDONE} and not ${MAY_BE_PAID} and not ${mayBePaidElsewhere(now)}
        ${isOnly(paymentId)}
      order by expires_at limit ${limit} for update skip locked) as due
    limit ${limit}`.execute(db);
  return rows.map(({ id }) => id);
}

/** Those of the payments that have an underpayment, seen or final. */
export async function listUnderpaid(
  db: Connection,
  paymentIds: readonly string[],
): Promise<string[]> {
  const rows = await db
    .selectFrom('deposits')
    .select('payment_id as id')
    .distinct()
    .where(({ eb, fn, val }) => eb('payment_id', '=', fn.any(val(paymentIds))))
    .where('outcome', '=', 'under')
    .where('state', 'in', ['seen', 'final'])
    .execute();
  return rows.flatMap(({ id }) => id ?? []);
}

/** An open payment whose quote has lapsed. */
export type LapsedPayment = Pick<Payment, 'id' | 'settlement_model' | 'last_error_code'>;

/**
 * Locks at most `limit` open payments whose quote has lapsed and that are known to be unpaid; skips rows
 * locked by others.
 * @param paymentId Locks no other payment than this one, if it is given.
 */
export async function lockLapsedQuotes(
  db: Connection,
  now: Date,
  limit: number,
  paymentId?: string,
): Promise<LapsedPayment[]> {
  const { rows } = await sql<LapsedPayment>`
    select lapsed.*
    from (${known(now)}) as known cross join lateral (
      select id, settlement_model, last_error_code from payments
      where status = 'pending' and session_status = 'pending'
        and blockchain_id = known.id and quoted_until <= known.until
        and not ${MAY_BE_UNDONE} and not ${MAY_BE_PAID} ${isOnly(paymentId)}
      order by quoted_until limit ${limit} for update skip locked) as lapsed
    limit ${limit}`.execute(db);
  return rows;
}
