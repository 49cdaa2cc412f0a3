import type { Deposit } from '../database/tables.ts';

/** A deposit as the command line shows it; `tokenAmount` is in the asset's smallest unit. */
export function depositObject(deposit: Deposit) {
  return {
    id: deposit.id,
    blockchainId: deposit.blockchain_id,
    transactionHash: deposit.transaction_hash,
    position: deposit.position,
    address: deposit.address,
    tokenAmount: deposit.token_amount,
    state: deposit.state,
    outcome: deposit.outcome,
    paymentId: deposit.payment_id,
    dismissedAt: deposit.dismissed_at,
    observedAt: deposit.observed_at,
  };
}
