import { type Insertable, sql } from 'kysely';
import { type BoundColumns, bindRows, selectBoundRows } from '../../database/bound-rows.ts';
import type { Connection } from '../../database/connection.ts';
import type { PaymentTransitionsTable } from '../../database/payment-tables.ts';
import { type Given, prepare } from '../../database/prepared.ts';
import { eventSteps, type NewEvent } from './events.ts';

/** The records of one move of a payment. */
interface MoveRecords {
  readonly transition: Insertable<PaymentTransitionsTable>;
  /** null for a move without an event. */
  readonly event: NewEvent | null;
}

/** Columns of the transition, and of the event where there is one. */
const COLUMNS: BoundColumns<MoveRecords> = {
  id: ['uuid', ({ transition }) => transition.id],
  payment_id: ['uuid', ({ transition }) => transition.payment_id],
  from_status: ['text', ({ transition }) => transition.from_status],
  from_session_status: ['text', ({ transition }) => transition.from_session_status],
  to_status: ['text', ({ transition }) => transition.to_status],
  to_session_status: ['text', ({ transition }) => transition.to_session_status],
  at: ['timestamptz', ({ transition }) => transition.at],
  actor: ['text', ({ transition }) => transition.actor],
  reason: ['text', ({ transition }) => transition.reason],
  event_id: ['uuid', ({ event }) => event?.id],
  merchant_id: ['uuid', ({ event }) => event?.merchantId],
  type: ['text', ({ event }) => event?.type],
  data: ['text', ({ event }) => event?.data],
  traceparent: ['text', ({ event }) => event?.traceparent],
  tracestate: ['text', ({ event }) => event?.tracestate],
};

/** An array for each column, and what is bound beside them. */
type Values = Readonly<Record<string, unknown>>;

const recordMoves = prepare(
  'record_moves',
  (_db, given: Given<Values>) => sql<never>`
    with moved as materialized (${selectBoundRows(COLUMNS, given)}
    ), transition as (
      insert into payment_transitions (id, payment_id, from_status, from_session_status, to_status,
                                       to_session_status, at, actor, reason)
      select id, payment_id, from_status, from_session_status, to_status, to_session_status, at,
             actor, reason
      from moved
    ), released as (
      update reservations set released_at = ${given('releasedAt')}::timestamptz
      where payment_id = any(${given('paymentIds')}::uuid[]) and released_at is null
        and ${given('releasedAt')}::timestamptz is not null
    ), ${eventSteps(sql`
      select event_id, merchant_id, payment_id, type, at, data::json, traceparent, tracestate
      from moved where event_id is not null`)}
    select`,
);

/**
 * Records moves: for each the transition, the event with its deliveries, and the release of the amounts that
 * the payment had reserved. One prepared statement, since a watcher moves hundreds of payments a second.
 * @param releasedAt When the amounts are released; null while the payments keep them.
 */
export async function insertMoveRecords(
  db: Connection,
  records: readonly MoveRecords[],
  releasedAt: Date | null,
): Promise<void> {
  const paymentIds = records.map(({ transition }) => transition.payment_id);
  await recordMoves(db, { ...bindRows(COLUMNS, records), paymentIds, releasedAt });
}
