import type { Merchant } from '../../src/database/account-tables.ts';
import type { Payment } from '../../src/database/payment-tables.ts';
import { insertReservation } from '../../src/repositories/deposits/reservations.ts';
import { updateOpenPayment } from '../../src/repositories/payments/moves.ts';
import { ADDRESSES } from './accounts.ts';
import type { TestApp } from './app.ts';
import { addPayment } from './payments.ts';

/** A payment on Bitcoin that waits for exactly this many satoshi. */
export async function addOpenPayment(
  { db, clock }: Pick<TestApp, 'db' | 'clock'>,
  merchant: Merchant,
  tokenAmount: bigint,
): Promise<Payment> {
  const now = new Date(clock());
  const { id } = await addPayment(db, merchant, {
    created_at: now,
    offered_blockchain_ids: ['btc'],
  });
  const slot = { blockchainId: 'btc', address: ADDRESSES.btc, tokenAmount };
  if (!(await insertReservation(db, id, slot, now))) throw new Error('the amount is reserved');
  const payment = await updateOpenPayment(db, id, {
    blockchain_id: 'btc',
    address: ADDRESSES.btc,
    token_amount: tokenAmount,
    token_decimals: 8,
  });
  if (payment === undefined) throw new Error('the payment is not open');
  return payment;
}
