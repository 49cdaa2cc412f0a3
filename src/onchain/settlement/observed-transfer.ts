import { newId } from '#crypto/new-id.ts';
import type { Deposit, DepositSource } from '#storage/database/deposit-tables.ts';
import type { DepositMatch, TimeOfTransfer } from './match-payment.ts';

/** State of a transfer: in a block or the mempool, irreversible, undone, or failed on chain. */
export type Finality = 'seen' | 'final' | 'reversed' | 'failed';

/** A transfer to a deposit address, as reported by a chain watcher or the simulator. */
export interface ObservedTransfer {
  readonly blockchainId: string;
  readonly transactionHash: string;
  /** Index of the log, output or instruction within the transaction. */
  readonly position: number;
  /** The receiving address in its canonical spelling. */
  readonly address: string;
  /** Integer of the asset's smallest unit. */
  readonly tokenAmount: bigint;
  /** null while it is not in a block. */
  readonly blockHeight: number | null;
  /** null while it is not in a block, and for a simulated transfer. */
  readonly blockHash: string | null;
  /**
   * When it happened; it is matched to a payment by this time. Only the first report of a transfer counts: later the
   * transfer may get into another block.
   */
  readonly occurredAt: Date;
  /**
   * The earliest time at which it may have happened; default `occurredAt`. It is late only if this time is after its
   * payment's end: block clocks may be hours apart.
   */
  readonly earliestAt?: Date;
  readonly source: DepositSource;
  /** Outputs that the transaction spends, as `hash:index` (Bitcoin); null elsewhere. */
  readonly inputs?: readonly string[] | null;
  /** Accounts that may name the payment that it is for (Solana Pay). */
  readonly references?: readonly string[];
  readonly finality: Finality;
  /**
   * Whether two readings agree, so that a deposit that differs from them is corrected. After a single reading that
   * differs, the deposit only loses its block, and is looked up again.
   */
  readonly isCorrection?: true;
}

/** Columns that a report of a known deposit changes beside its state. */
export function blockColumns({ blockHeight, blockHash }: ObservedTransfer, now: Date) {
  return {
    block_height: blockHeight,
    block_hash: blockHash,
    missing_since: null,
    updated_at: now,
  };
}

/** The row of a transfer that is reported for the first time. */
export function newDeposit(transfer: ObservedTransfer, matched: DepositMatch, now: Date) {
  const { occurredAt, earliestAt = occurredAt, references = [] } = transfer;
  return {
    id: newId(),
    blockchain_id: transfer.blockchainId,
    transaction_hash: transfer.transactionHash,
    position: transfer.position,
    address: transfer.address,
    token_amount: transfer.tokenAmount,
    state: transfer.finality,
    ...matched,
    dismissed_at: null,
    observed_at: now,
    occurred_at: occurredAt,
    earliest_at: earliestAt,
    source: transfer.source,
    inputs: transfer.inputs == null ? null : [...transfer.inputs],
    reference_accounts: references.length === 0 ? null : [...references],
    ...blockColumns(transfer, now),
  };
}

/** When a known deposit was made. Earlier releases recorded only when it was first seen. */
export function timeOf({ occurred_at, earliest_at, observed_at }: Deposit): TimeOfTransfer {
  const occurredAt = occurred_at ?? observed_at;
  return { occurredAt, earliestAt: earliest_at ?? occurredAt };
}
