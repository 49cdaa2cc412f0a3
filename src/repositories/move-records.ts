import { type Insertable, sql } from 'kysely';
import type { Connection } from '../database/connection.ts';
import type { PaymentTransitionsTable } from '../database/tables.ts';
import { eventSteps, eventValues, type NewEvent } from './events.ts';

/** What a move of a payment leaves behind. */
export interface MoveRecords {
  readonly transition: Insertable<PaymentTransitionsTable>;
  /** null for a move that no merchant is told of. */
  readonly event: NewEvent | null;
  /** When the payment's amounts are released; null while it keeps them. */
  readonly releasedAt: Date | null;
}

/**
 * Records a move: the transition, the event with its deliveries, and the release of the amounts that the
 * payment had reserved. One statement, since a watcher moves hundreds of payments a second.
 */
export async function insertMoveRecords(
  db: Connection,
  { transition: row, event, releasedAt }: MoveRecords,
): Promise<void> {
  const steps = event === null ? sql`` : sql`, ${eventSteps(eventValues(event))}`;
  await sql`
    with transition as (
      insert into payment_transitions (id, payment_id, from_status, from_session_status, to_status,
                                       to_session_status, at, actor, reason)
      values (${row.id}, ${row.payment_id}, ${row.from_status}, ${row.from_session_status},
              ${row.to_status}, ${row.to_session_status}, ${row.at}, ${row.actor}, ${row.reason})
    ), released as (
      update reservations set released_at = ${releasedAt}::timestamptz
      where payment_id = ${row.payment_id} and released_at is null
        and ${releasedAt}::timestamptz is not null
    ) ${steps}
    select`.execute(db);
}
