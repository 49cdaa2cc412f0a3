import type { Connection } from '#storage/database/connection.ts';
import type { Deposit } from '#storage/database/deposit-tables.ts';
import { addFinding } from '#storage/repositories/chains/findings.ts';
import { findNetwork } from '#storage/repositories/chains/networks.ts';
import { depositFinding } from './deposit-finding.ts';

/** A transfer as a node reports it, as far as it can differ from the recorded deposit. */
interface Reading {
  readonly address: string;
  /** Integer of the asset's smallest unit. */
  readonly tokenAmount: bigint;
  /** null while it is not in a block. */
  readonly blockHash: string | null;
}

/** Whether a transfer differs from its recorded deposit: then one of two readings is wrong. */
export function differs(
  known: Deposit,
  { address, tokenAmount }: Pick<Reading, 'address' | 'tokenAmount'>,
): boolean {
  return known.address !== address || BigInt(known.token_amount) !== tokenAmount;
}

/** Columns that are reset when a deposit's amount or address changes. */
export const NOT_VALUED = { usd_price: null, priced_at: null, value_cents: null } as const;

/**
 * Adds a finding that a deposit was read differently than before, with both readings.
 * @param reading The transfer as it is read now; null if its transaction does not contain it.
 */
export async function reportCorrection(
  db: Connection,
  known: Deposit,
  reading: Reading | null,
  now: Date,
): Promise<void> {
  const chain = (await findNetwork(db, known.blockchain_id))?.chain;
  if (chain == null) return;
  const before = `${known.token_amount} to ${known.address} in block ${known.block_hash ?? 'none'}`;
  const after =
    reading === null
      ? 'its transaction does not contain it'
      : `it is ${reading.tokenAmount} to ${reading.address} in block ${reading.blockHash ?? 'none'}`;
  const detail = `Recorded as ${before} (in the smallest unit); read again, ${after}. The deposit follows the last reading.`;
  await addFinding(db, depositFinding(known, { chain, kind: 'corrected', detail }), now);
}
