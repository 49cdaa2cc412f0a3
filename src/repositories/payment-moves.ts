import { type Insertable, type Selectable, sql, type Updateable } from 'kysely';
import type { Connection } from '../database/connection.ts';
import type {
  Payment,
  PaymentStatus,
  PaymentsTable,
  PaymentTransitionsTable,
  SessionStatus,
} from '../database/tables.ts';

export type PaymentColumns = Updateable<PaymentsTable>;

interface State {
  readonly status: PaymentStatus;
  readonly session: SessionStatus;
}

/** Updates a payment if it is in one of the states; also returns the state it was in. */
export async function updatePaymentFrom(
  db: Connection,
  id: string,
  states: readonly State[],
  columns: PaymentColumns,
): Promise<{ payment: Payment; before: State } | undefined> {
  const row = await db
    .updateTable('payments')
    .from(
      db
        .selectFrom('payments')
        .select(['id as heldId', 'status as statusBefore', 'session_status as sessionBefore'])
        .where('id', '=', id)
        .where(({ eb, or, and }) =>
          or(
            states.map(({ status, session }) =>
              and([eb('status', '=', status), eb('session_status', '=', session)]),
            ),
          ),
        )
        .forUpdate()
        .as('held'),
    )
    .set(columns)
    .whereRef('payments.id', '=', 'held.heldId')
    .returningAll('payments')
    .returning(['held.statusBefore', 'held.sessionBefore'])
    .executeTakeFirst();
  if (row === undefined) return undefined;
  const { statusBefore, sessionBefore, ...payment } = row;
  return { payment, before: { status: statusBefore, session: sessionBefore } };
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

export async function insertTransition(
  db: Connection,
  row: Insertable<PaymentTransitionsTable>,
): Promise<void> {
  await db.insertInto('payment_transitions').values(row).execute();
}

/** A payment's history, oldest first, at most 1,000 moves. */
export function listTransitions(
  db: Connection,
  paymentId: string,
): Promise<Selectable<PaymentTransitionsTable>[]> {
  return db
    .selectFrom('payment_transitions')
    .selectAll()
    .where('payment_id', '=', paymentId)
    .orderBy('at')
    .orderBy('id')
    .limit(1000)
    .execute();
}

/** Reads a payment and locks its row until the transaction ends. */
export function lockPayment(db: Connection, id: string): Promise<Payment | undefined> {
  return db.selectFrom('payments').selectAll().where('id', '=', id).forUpdate().executeTakeFirst();
}

export interface DuePayment {
  id: string;
  /** Whether it has an underpayment that is seen or final. */
  underpaid: boolean;
}

/** Locks at most `limit` overdue on-chain payments without funds; skips rows locked by others. */
export async function lockDuePayments(
  db: Connection,
  now: Date,
  limit: number,
): Promise<DuePayment[]> {
  const { rows } = await sql<DuePayment>`
    select id, exists (
      select from deposits where payment_id = payments.id and outcome = 'under'
        and state in ('seen', 'final')) as underpaid
    from payments
    where flow = 'crypto' and status = 'pending' and session_status = 'pending' and expires_at <= ${now}
    order by expires_at limit ${limit} for update skip locked`.execute(db);
  return rows;
}

/** An open payment whose quote has lapsed. */
export type LapsedPayment = Pick<Payment, 'id' | 'settlement_model'>;

/** Locks at most `limit` open payments whose quote has lapsed; skips rows locked by others. */
export async function lockLapsedQuotes(
  db: Connection,
  now: Date,
  limit: number,
): Promise<LapsedPayment[]> {
  const { rows } = await sql<LapsedPayment>`
    select id, settlement_model from payments
    where status = 'pending' and session_status = 'pending' and blockchain_id is not null
      and quoted_until <= ${now}
    order by quoted_until limit ${limit} for update skip locked`.execute(db);
  return rows;
}
