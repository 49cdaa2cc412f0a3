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
 * Begins a test: amounts asked for by earlier ones no longer match a transfer. Rows that it has already released are
 * not written again; otherwise each test would rewrite all reservations of its file.
 */
export async function releaseAll(db: Database): Promise<void> {
  const released_at = new Date(0);
  // Open payments would still match what they asked for at their addresses.
  await db
    .updateTable('reservations')
    .set({ released_at, address: 'an earlier test' })
    .where('released_at', 'is distinct from', released_at)
    .execute();
}

/** In an order that violates no foreign key. */
const OF_TRANSFERS = [
  ...['asked_assignments', 'reservations', 'deposits', 'dust', 'findings', 'rescans'],
  'held_balances',
] as const;

/**
 * Begins a test: removes every transfer, and everything that waited for one. Deleting a few rows takes a fiftieth of
 * the time of truncating the tables.
 */
export async function forgetTransfers(db: Database): Promise<void> {
  const statements = OF_TRANSFERS.map(table => sql`delete from ${sql.table(table)}`);
  // Statements without parameters may be sent as one.
  await sql.join(statements, sql`; `).execute(db);
}

/** A payment on Bitcoin that asks for exactly this many satoshi. */
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

/** A payment that asks for this amount at this address; with 18 decimals unless given. */
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
