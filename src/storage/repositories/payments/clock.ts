import { sql } from 'kysely';
import type { Connection } from '../../database/connection.ts';
import type { Payment } from '../../database/payment-tables.ts';

/**
 * Makes the deadlines of a pending payment earlier: its expiry, the end of its quote, and the next inquiry. The expiry
 * never comes before the creation, since merchants read both. Call it in a transaction.
 * @returns The payment; undefined if it has ended.
 */
export async function bringPaymentForward(
  db: Connection,
  id: string,
  milliseconds: number,
): Promise<Payment | undefined> {
  // Lets the trigger that fixes the time to pay of the older contract allow this, until the transaction ends.
  await sql`select set_config('eps.advances_clock', 'on', true)`.execute(db);
  const by = sql`${milliseconds} * interval '1 millisecond'`;
  return db
    .updateTable('payments')
    .set({
      expires_at: sql`greatest(expires_at - ${by}, created_at)`,
      quoted_until: sql`quoted_until - ${by}`,
      inquire_at: sql`inquire_at - ${by}`,
    })
    .where('id', '=', id)
    .where('status', '=', 'pending')
    .returningAll()
    .executeTakeFirst();
}

/** Makes the next attempts of the pending deliveries of a payment's events earlier; returns how many. */
export async function bringDeliveriesForward(
  db: Connection,
  paymentId: string,
  milliseconds: number,
): Promise<number> {
  const { numAffectedRows = 0n } = await sql`
    update webhook_deliveries
    set next_attempt_at = next_attempt_at - ${milliseconds} * interval '1 millisecond'
    where event_id in (select id from events where payment_id = ${paymentId})
      and status = 'pending'`.execute(db);
  return Number(numAffectedRows);
}
