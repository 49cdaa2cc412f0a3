import { newId } from '../crypto/new-id.ts';
import type { Connection } from '../database/connection.ts';
import type { Deposit } from '../database/deposit-tables.ts';
import { addFinding } from '../repositories/chains/findings.ts';
import { findNetwork } from '../repositories/chains/networks.ts';

/** A transfer as a node shows it, as far as that can differ from what is recorded. */
interface Reading {
  readonly address: string;
  /** Integer of the asset's smallest unit. */
  readonly tokenAmount: bigint;
  /** null while it is not in a block. */
  readonly blockHash: string | null;
}

/** Whether a transfer is shown otherwise than it is recorded: one of two responses was wrong. */
export function differs(
  known: Deposit,
  { address, tokenAmount }: Pick<Reading, 'address' | 'tokenAmount'>,
): boolean {
  return known.address !== address || BigInt(known.token_amount) !== tokenAmount;
}

/** What is unknown of a deposit whose amount or address has just changed. */
export const NOT_VALUED = { usd_price: null, priced_at: null, value_cents: null } as const;

/**
 * Adds a finding that a deposit is shown otherwise than before, with both responses.
 * @param told How it is shown now; null if its transaction does not contain it.
 */
export async function reportCorrection(
  db: Connection,
  known: Deposit,
  told: Reading | null,
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
