import type { ChainTransfer } from '#chains/transfer.ts';
import type { Connection } from '#storage/database/connection.ts';
import type { Deposit, DepositOutcome, DepositState } from '#storage/database/deposit-tables.ts';
import { addRescanOnce } from '#storage/repositories/chains/rescans.ts';
import { listDepositsByHash } from '#storage/repositories/deposits/deposits.ts';
import { differs } from '../../settlement/correct-deposit.ts';
import { type AskedWithin, weighTransfers } from '../../settlement/weigh-transfers.ts';

/** A transfer to a watched address, and its deposit in the ledger. */
export interface FoundTransfer {
  readonly blockchainId: string;
  readonly position: number;
  readonly address: string;
  /** Integer of the asset's smallest unit. */
  readonly tokenAmount: bigint;
  /** null while it is not recorded; then payment and state are null as well. */
  readonly depositId: string | null;
  readonly paymentId: string | null;
  /** `dust` is never recorded. */
  readonly outcome: DepositOutcome | 'dust' | null;
  readonly state: DepositState | null;
  /** Whether it is recorded with a different amount or address, and may still be corrected. */
  readonly isOtherwise: boolean;
}

/**
 * Transfers with their deposits in the ledger.
 * @param asked The requested amounts to weigh the transfers by; null to skip this.
 */
export async function withDeposits(
  db: Connection,
  transactionHash: string,
  transfers: readonly ChainTransfer[],
  asked: AskedWithin | null,
): Promise<FoundTransfer[]> {
  if (transfers.length === 0) return [];
  const ids = [...new Set(transfers.map(({ blockchainId }) => blockchainId))];
  const deposits: Deposit[] = [];
  for (const id of ids) deposits.push(...(await listDepositsByHash(db, id, transactionHash)));
  const weights = asked === null ? [] : await weighTransfers(db, transfers, asked);
  return transfers.map(({ blockchainId, position, address, tokenAmount }, index) => {
    const deposit = deposits.find(
      each => each.blockchain_id === blockchainId && each.position === position,
    );
    return {
      blockchainId,
      position,
      address,
      tokenAmount,
      depositId: deposit?.id ?? null,
      paymentId: deposit?.payment_id ?? null,
      outcome: deposit?.outcome ?? (weights[index] === 'dust' ? 'dust' : null),
      state: deposit?.state ?? null,
      isOtherwise:
        deposit !== undefined &&
        deposit.state !== 'final' &&
        differs(deposit, { address, tokenAmount }),
    };
  });
}

/** Whether a transfer that should be in the ledger is missing there, or recorded differently. */
export function isMissing({ depositId, outcome, isOtherwise }: FoundTransfer): boolean {
  return isOtherwise || (depositId === null && outcome !== 'dust');
}

/** Requests a rescan of a block if transfers in it are missing from the ledger, or differ from it. */
export async function rescanMissing(
  db: Connection,
  { askedBy, now }: { readonly askedBy: string; readonly now: Date },
  transfers: readonly FoundTransfer[],
  height: number,
): Promise<void> {
  const missing = transfers.filter(isMissing);
  for (const blockchainId of new Set(missing.map(each => each.blockchainId))) {
    await addRescanOnce(db, { blockchainId, from: height, to: height, askedBy }, now);
  }
}
