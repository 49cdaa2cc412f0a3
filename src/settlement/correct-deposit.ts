import { newId } from '../crypto/new-id.ts';
import type { Connection } from '../database/connection.ts';
import type { Deposit } from '../database/deposit-tables.ts';
import { addFinding } from '../repositories/findings.ts';
import { findNetwork } from '../repositories/networks.ts';

/** What a node tells of a transfer, as far as it can differ from what is recorded. */
interface Told {
  readonly address: string;
  /** Integer of the asset's smallest unit. */
  readonly tokenAmount: bigint;
  /** null while it is not in a block. */
  readonly blockHash: string | null;
}

/** Whether a transfer is told otherwise than it is recorded: a node was wrong, the one before or this one. */
export function differs(
  known: Deposit,
  { address, tokenAmount }: Pick<Told, 'address' | 'tokenAmount'>,
): boolean {
  return known.address !== address || BigInt(known.token_amount) !== tokenAmount;
}

/** What is unknown of a deposit whose amount or address has just changed. */
export const NOT_VALUED = { usd_price: null, priced_at: null, value_cents: null } as const;

/**
 * Writes down that a deposit is told otherwise than before, with both answers.
 * @param told What is told of it now; null if its transaction is told without it.
 */
export async function reportCorrection(
  db: Connection,
  known: Deposit,
  told: Told | null,
  now: Date,
): Promise<void> {
  const { blockchain_id: blockchainId, transaction_hash: transactionHash, position } = known;
  const chain = (await findNetwork(db, blockchainId))?.chain;
  if (chain == null) return;
  const before = `${known.token_amount} to ${known.address} in block ${known.block_hash ?? 'none'}`;
  const after =
    told === null
      ? 'its transaction does not contain it'
      : `it is ${told.tokenAmount} to ${told.address} in block ${told.blockHash ?? 'none'}`;
  await addFinding(
    db,
    {
      ...{ id: newId(), chain, kind: 'corrected', blockchainId, transactionHash, position },
      address: known.address,
      amount: BigInt(known.token_amount),
      height: known.block_height,
      detail: `Recorded as ${before} (in the smallest unit); read again, ${after}. The deposit follows the last reading.`,
    },
    now,
  );
}
