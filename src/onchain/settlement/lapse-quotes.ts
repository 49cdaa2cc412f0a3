import type { BaseLogger } from 'pino';
import { handleDue } from '#payments/handle-due.ts';
import type { Connection, Database } from '#storage/database/connection.ts';
import type { Payment } from '#storage/database/payment-tables.ts';
import { releaseReservation } from '#storage/repositories/deposits/reservations.ts';
import {
  type LapsedPayment,
  lockLapsedQuotes,
  updateOpenPayment,
} from '#storage/repositories/payments/moves.ts';
import { withoutRest } from './underpayment.ts';

/**
 * Whether the price of an open payment is no longer held, so that its customer has to choose a network again. This
 * only happens to payments that wait longer than their network's window.
 */
export function hasLapsed(payment: Payment, now: Date): boolean {
  const { status, session_status: session, quoted_until: until } = payment;
  return status === 'pending' && session === 'pending' && until !== null && until <= now;
}

/**
 * Withdraws at most `limit` quotes that have lapsed, while their payments stay open: releases the amount and clears
 * network and address, so that the customer gets another quote. A payment keeps its quote if funds have been seen, or
 * may have arrived while the watcher was behind. Workers may run it concurrently.
 * @param log Gets the error of a batch that did not recur when its quotes were withdrawn one by one.
 * @returns The number of quotes withdrawn.
 * @throws AggregateError with the payments that failed, after all others.
 */
export function lapseQuotes(
  db: Database,
  now: Date,
  limit: number,
  log?: Pick<BaseLogger, 'warn'>,
): Promise<number> {
  return handleDue(db, {
    lock: tx => lockLapsedQuotes(tx, now, limit),
    handle: (tx, payment) => withdrawQuote(tx, payment, now),
    what: 'unquoted',
    log,
  });
}

/** Withdraws a payment's quote as `lapseQuotes` would, if its time is over. Call it in a transaction. */
export async function lapseIfDue(tx: Connection, paymentId: string, now: Date): Promise<void> {
  for (const lapsed of await lockLapsedQuotes(tx, now, 1, paymentId)) {
    await withdrawQuote(tx, lapsed, now);
  }
}

async function withdrawQuote(
  db: Connection,
  { id, settlement_model: settlement, last_error_code }: LapsedPayment,
  now: Date,
): Promise<void> {
  await releaseReservation(db, id, now);
  await updateOpenPayment(db, id, {
    blockchain_id: null,
    address: null,
    token_amount: null,
    token_decimals: null,
    quoted_at: null,
    ...(await withoutRest(db, { id, last_error_code })),
    // As at creation: the commission is set when a network is chosen.
    commission_amount: settlement === 'direct' ? 0 : null,
  });
}
