import { newId } from '#crypto/new-id.ts';
import type { Deposit } from '#storage/database/deposit-tables.ts';
import type { NewFinding } from '#storage/repositories/chains/findings.ts';

/** A finding about a deposit, with all that identifies it. */
export function depositFinding(
  deposit: Deposit,
  finding: Pick<NewFinding, 'chain' | 'kind' | 'detail'>,
): NewFinding {
  return {
    id: newId(),
    ...finding,
    blockchainId: deposit.blockchain_id,
    transactionHash: deposit.transaction_hash,
    position: deposit.position,
    address: deposit.address,
    amount: BigInt(deposit.token_amount),
    height: deposit.block_height,
  };
}
