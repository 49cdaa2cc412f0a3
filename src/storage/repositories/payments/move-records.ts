import { type Insertable, sql } from 'kysely';
import type { Connection } from '../../database/connection.ts';
import type { PaymentTransitionsTable } from '../../database/payment-tables.ts';
import { type Given, prepare } from '../../database/prepared.ts';
import { eventSteps, type NewEvent } from './events.ts';

/** The records of one move of a payment. */
export interface MoveRecords {
  readonly transition: Insertable<PaymentTransitionsTable>;
  /** null for a move without an event. */
  readonly event: NewEvent | null;
}

interface Values {
  /** JSON of a list of rows. */
  readonly moves: string;
  readonly paymentIds: readonly string[];
  readonly releasedAt: Date | null;
}

const recordMoves = prepare(
  'record_moves',
  (_db, given: Given<Values>) => sql<never>`
    with moved as materialized (
      select id, payment_id, from_status, from_session_status, to_status, to_session_status, at, actor,
             reason, event_id, merchant_id, type, data, traceparent, tracestate
      from json_to_recordset(${given('moves')}::json) as row (
        id uuid, payment_id uuid, from_status text, from_session_status text, to_status text,
        to_session_status text, at timestamptz, actor text, reason text, event_id uuid,
        merchant_id uuid, type text, data text, traceparent text, tracestate text)
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
  const moves = records.map(({ transition, event }) => {
    const { id: event_id, merchantId: merchant_id, ...ofEvent } = event ?? {};
    // JSON must not contain a lone surrogate; this replaces it, as sending it as text would.
    const reason = transition.reason.toWellFormed();
    return { ...ofEvent, ...transition, reason, event_id, merchant_id };
  });
  const paymentIds = records.map(({ transition }) => transition.payment_id);
  await recordMoves(db, { moves: JSON.stringify(moves), paymentIds, releasedAt });
}
