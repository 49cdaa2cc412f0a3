import { type Insertable, sql } from 'kysely';
import type { Connection } from '../database/connection.ts';
import type { PaymentTransitionsTable } from '../database/payment-tables.ts';
import { type Given, prepare } from '../database/prepared.ts';
import { eventSteps, type NewEvent } from './events.ts';

/** What a move of a payment leaves behind. */
export interface MoveRecords {
  readonly transition: Insertable<PaymentTransitionsTable>;
  /** null for a move that no merchant is told of. */
  readonly event: NewEvent | null;
  /** When the payment's amounts are released; null while it keeps them. */
  readonly releasedAt: Date | null;
}

type Transition = Insertable<PaymentTransitionsTable>;
type Values = Transition & { readonly releasedAt: Date | null };

/** The steps that record the transition and release the amounts. */
function moveSteps(given: Given<Values>) {
  return sql`
    transition as (
      insert into payment_transitions (id, payment_id, from_status, from_session_status, to_status,
                                       to_session_status, at, actor, reason)
      values (${given('id')}::uuid, ${given('payment_id')}::uuid, ${given('from_status')}::text,
              ${given('from_session_status')}::text, ${given('to_status')}::text,
              ${given('to_session_status')}::text, ${given('at')}::timestamptz,
              ${given('actor')}::text, ${given('reason')}::text)
    ), released as (
      update reservations set released_at = ${given('releasedAt')}::timestamptz
      where payment_id = ${given('payment_id')}::uuid and released_at is null
        and ${given('releasedAt')}::timestamptz is not null
    )`;
}

const recordMove = prepare(
  'record_move',
  (_db, given: Given<Values>) => sql<never>`with ${moveSteps(given)} select`,
);

interface EventValues {
  readonly eventId: string;
  readonly merchantId: string;
  readonly paymentId: string | null;
  readonly type: string;
  readonly createdAt: Date;
  readonly data: string;
  readonly traceparent: string | null;
  readonly tracestate: string | null;
}

const recordToldMove = prepare(
  'record_told_move',
  (_db, given: Given<Values & EventValues>) => sql<never>`
    with ${moveSteps(given as Given<Values>)}, ${eventSteps(sql`
      values (${given('eventId')}::uuid, ${given('merchantId')}::uuid, ${given('paymentId')}::uuid,
              ${given('type')}::text, ${given('createdAt')}::timestamptz, ${given('data')}::json,
              ${given('traceparent')}::text, ${given('tracestate')}::text)`)}
    select`,
);

/**
 * Records a move: the transition, the event with its deliveries, and the release of the amounts that the
 * payment had reserved. One prepared statement, since a watcher moves hundreds of payments a second.
 */
export async function insertMoveRecords(
  db: Connection,
  { transition, event, releasedAt }: MoveRecords,
): Promise<void> {
  if (event === null) {
    await recordMove(db, { ...transition, releasedAt });
    return;
  }
  const { id: eventId, ...told } = event;
  await recordToldMove(db, { ...transition, releasedAt, eventId, ...told });
}
