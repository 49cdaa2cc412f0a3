import { sql } from 'kysely';
import type { Merchant } from '#storage/database/account-tables.ts';
import type { Database } from '#storage/database/connection.ts';
import type { Payment } from '#storage/database/payment-tables.ts';
import { insertReservation, type Slot } from '#storage/repositories/deposits/reservations.ts';
import { updateOpenPayment } from '#storage/repositories/payments/moves.ts';
import { ADDRESSES } from './accounts.ts';
import type { TestApp } from './app.ts';
import { addPayment } from './payments.ts';

type Service = Pick<TestApp, 'db' | 'clock'>;

/**
 * Begins a test: what earlier ones asked for is no candidate for a transfer. What was released so before is not
 * written again, or a file of many tests writes all that it has ever reserved for each.
 */
export async function releaseAll(db: Database): Promise<void> {
  const released_at = new Date(0);
  // Open payments still take what they asked for at their addresses.
  await db
    .updateTable('reservations')
    .set({ released_at, address: 'an earlier test' })
    .where('released_at', 'is distinct from', released_at)
    .execute();
}

/** In an order in which nothing refers to what is gone. */
const OF_TRANSFERS = [
  ...['asked_assignments', 'reservations', 'deposits', 'dust', 'findings', 'rescans'],
  'held_balances',
] as const;

/**
 * Begins a test: removes every transfer, and what waited for one. Deleting a few rows takes a fiftieth of what
 * emptying the tables' files does.
 */
export async function forgetTransfers(db: Database): Promise<void> {
  const statements = OF_TRANSFERS.map(table => sql`delete from ${sql.table(table)}`);
  // Statements without values may be sent as one.
  await sql.join(statements, sql`; `).execute(db);
}

/** A payment on Bitcoin that waits for exactly this many satoshi. */
export function addOpenPayment(
  service: Service,
  merchant: Merchant,
  tokenAmount: bigint,
): Promise<Payment> {
  const slot = { blockchainId: 'btc', address: ADDRESSES.btc, tokenAmount };
  return addPaymentAt(service, merchant, slot, {
    token_decimals: 8,
    offered_blockchain_ids: ['btc'],
  });
}

/** A payment that waits for this amount at this address; in units of 18 decimals unless given. */
export async function addPaymentAt(
  { db, clock }: Service,
  merchant: Merchant,
  slot: Slot,
  { token_decimals = 18, ...columns }: Partial<Payment> = {},
): Promise<Payment> {
  const now = new Date(clock());
  const { id } = await addPayment(db, merchant, { created_at: now, ...columns });
  if (!(await insertReservation(db, id, slot, now))) throw new Error('the amount is reserved');
  const { blockchainId: blockchain_id, address, tokenAmount: token_amount } = slot;
  const chosen = { blockchain_id, address, token_amount, token_decimals };
  const payment = await updateOpenPayment(db, id, chosen);
  if (payment === undefined) throw new Error('the payment is not open');
  return payment;
}
