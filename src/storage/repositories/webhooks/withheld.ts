import { sql } from 'kysely';
import type { Connection } from '../../database/connection.ts';
import type { ConfirmedRestore } from '../restores.ts';

/** Withholds at most `limit` pending deliveries; returns how many. */
export async function withholdPending(db: Connection, now: Date, limit: number): Promise<number> {
  const { numUpdatedRows } = await withhold(db, now)
    .where('id', 'in', ({ selectFrom }) =>
      selectFrom('webhook_deliveries').select('id').where('status', '=', 'pending').limit(limit),
    )
    .executeTakeFirst();
  return Number(numUpdatedRows);
}

/** A delivery and its event; the event's month is the delivery's partition. */
export interface DeliveryOfEvent {
  readonly deliveryId: string;
  readonly event: { readonly id: string };
}

/** Withholds a delivery, if it is pending. */
export async function withholdDelivery(
  db: Connection,
  { deliveryId, event }: DeliveryOfEvent,
  now: Date,
): Promise<void> {
  await withhold(db, now).where('id', '=', deliveryId).where('event_id', '=', event.id).execute();
}

function withhold(db: Connection, now: Date) {
  return db
    .updateTable('webhook_deliveries')
    .set({ status: 'withheld', next_attempt_at: null, claimed_until: null, finished_at: now })
    .where('status', '=', 'pending');
}

/**
 * How long after a restore an inquiry may still report payments whose end was known before, in minutes: the longest
 * pause between two inquiries of a processor (payments/processors/follow-up.ts).
 */
export const ASKED_ANEW_MINUTES = 15;

/**
 * Whether a merchant may have been told already what a delivery says, in a time that a restore has lost: the delivery
 * is about a payment from before the restore, whose funds had arrived or whose time had passed by then. When a
 * processor was paid is not known. Deliveries that repeat others by hand do not count.
 */
export async function mayHaveBeenTold(
  db: Connection,
  { deliveryId, event }: DeliveryOfEvent,
  { restoredTo, confirmedAt, toldUntil }: ConfirmedRestore,
): Promise<boolean> {
  const { rows } = await sql<{ told: boolean }>`
    select exists (
      select from webhook_deliveries as delivery
      join events on events.id = delivery.event_id
      join payments on payments.id = events.payment_id
      where delivery.id = ${deliveryId} and delivery.event_id = ${event.id} and events.id = ${event.id}
        and delivery.redelivery_of is null
        and events.created_at >= ${confirmedAt} and payments.created_at <= ${restoredTo}
        and case
          when payments.flow = 'regulated' then
            events.created_at <= ${confirmedAt}::timestamptz + ${ASKED_ANEW_MINUTES} * interval '1 minute'
          when payments.session_status = 'expired' then payments.expires_at <= ${toldUntil}
          else exists (
            select from deposits
            where payment_id = payments.id
              and coalesce(earliest_at, occurred_at, observed_at) <= ${toldUntil}) end) as told`.execute(
    db,
  );
  return rows[0]?.told === true;
}
