import { createHash } from 'node:crypto';
import { base58 } from '@scure/base';

/**
 * The `reference` of a payment (Solana Pay): 32 bytes that wallets add to the transfer as an account
 * which neither signs nor is written, so that `getSignaturesForAddress` finds the transaction by it.
 * Derived from the payment's ID, so nothing has to be stored, and the chain does not show the ID.
 */
export function solanaReference(paymentId: string): string {
  return base58.encode(createHash('sha256').update(`solana-pay ${paymentId}`).digest());
}
