import { inParts } from '#chains/ranges.ts';
import type { ChainTransfer } from '#chains/transfer.ts';
import { newId } from '#crypto/new-id.ts';
import type { Connection } from '#storage/database/connection.ts';
import type { Deposit } from '#storage/database/deposit-tables.ts';
import { isDatabaseUnavailable } from '#storage/database/errors.ts';
import { inSavepoint, UncertainCommit } from '#storage/database/transaction.ts';
import { addFinding } from '#storage/repositories/chains/findings.ts';
import { lockTransfers } from '#storage/repositories/deposits/deposits.ts';
import type { TimeOfTransfer } from '../../settlement/match-payment.ts';
import { observeAll } from '../../settlement/observe-all.ts';
import { observeIn } from '../../settlement/observe-transfer.ts';
import {
  type Finality,
  type ObservedTransfer,
  timeOf,
} from '../../settlement/observed-transfer.ts';
import { LeaseLost } from '../lease.ts';
import type { Watcher } from '../watcher.ts';

/** Transfers per transaction: few enough that addresses are not locked for long. */
const TRANSFERS_PER_TRANSACTION = 50;

/** Transactions that are open at once: each locks its own addresses. */
const CONCURRENCY = 4;

/** A transfer as it is reported to settlement. */
export function toObserved(
  transfer: ChainTransfer,
  finality: Finality,
  happened: TimeOfTransfer,
): ObservedTransfer {
  const { blockchainId, transactionHash, position, address, tokenAmount, block, inputs } = transfer;
  return {
    blockchainId,
    transactionHash,
    position,
    address,
    tokenAmount,
    inputs,
    finality,
    blockHeight: block?.height ?? null,
    blockHash: block?.hash ?? null,
    ...(transfer.references === undefined ? {} : { references: transfer.references }),
    ...happened,
    source: 'chain',
  };
}

/** A report of a known deposit without its block. Its time stays that of the first report. */
export function toReported(deposit: Deposit, finality: Finality): ObservedTransfer {
  return {
    blockchainId: deposit.blockchain_id,
    transactionHash: deposit.transaction_hash,
    position: deposit.position,
    address: deposit.address,
    tokenAmount: BigInt(deposit.token_amount),
    inputs: deposit.inputs,
    blockHeight: null,
    blockHash: null,
    finality,
    ...timeOf(deposit),
    source: 'chain',
  };
}

/**
 * Records observed transfers, at most 50 in a transaction. It is idempotent, so it is simply repeated after a crash
 * in between.
 * @param after Runs in the last transaction, for instance to move the cursor.
 * @throws LeaseLost, and any error that means the database is unavailable. A transfer that the database refuses
 * becomes a finding, and is tried again later.
 */
export async function recordTransfers(
  watcher: Watcher,
  observed: readonly ObservedTransfer[],
  after?: (tx: Connection, now: Date) => Promise<void>,
): Promise<void> {
  const chunks = inParts(observed.toSorted(inLockOrder), TRANSFERS_PER_TRANSACTION);
  const last = chunks.pop() ?? [];
  // A reversal may free its payment for another transfer, so then the transactions run one after the other.
  const together = observed.some(({ finality }) => finality === 'reversed') ? 1 : CONCURRENCY;
  const turns = Math.ceil(chunks.length / together);
  for (let turn = 0; turn < turns; turn++) {
    // Neighbours may lock the same address, so chunks that run concurrently are not adjacent.
    const running = chunks.filter((_, index) => index % turns === turn);
    await settleAll(running.map(chunk => recordChunk(watcher, chunk)));
  }
  if (last.length > 0 || after !== undefined) await recordChunk(watcher, last, after);
}

/** Waits for all promises, then throws the error of the first one that was rejected. */
async function settleAll(work: readonly Promise<void>[]): Promise<void> {
  const failed = (await Promise.allSettled(work)).find(({ status }) => status === 'rejected');
  if (failed?.status === 'rejected') throw failed.reason;
}

/** Records a chunk at once or, if the database refuses one of its transfers, each transfer in a savepoint. */
async function recordChunk(
  watcher: Watcher,
  chunk: readonly ObservedTransfer[],
  after?: (tx: Connection, now: Date) => Promise<void>,
): Promise<void> {
  const now = new Date(watcher.clock());
  const write = (observe: (tx: Connection) => Promise<void>) =>
    after === undefined
      ? watcher.lease.writeBeside(observe)
      : watcher.lease.write(async tx => {
          await observe(tx);
          await after(tx, now);
        });
  try {
    await write(tx => observeAll(tx, chunk, now));
  } catch (error) {
    const isAway = isDatabaseUnavailable(error) || error instanceof UncertainCommit;
    if (error instanceof LeaseLost || isAway || chunk.length === 0) throw error;
    await write(async tx => {
      await lockTransfers(tx, chunk);
      for (const transfer of chunk) await observeOne(watcher, tx, transfer, now);
    });
  }
}

/**
 * Reversals first, so that a replacement finds the amount free; then by address, which is the order in
 * which every transaction locks.
 */
function inLockOrder(a: ObservedTransfer, b: ObservedTransfer): number {
  return (
    Number(b.finality === 'reversed') - Number(a.finality === 'reversed') ||
    compare(a.blockchainId, b.blockchainId) ||
    compare(a.address, b.address)
  );
}

function compare(a: string, b: string): number {
  return a < b ? -1 : Number(a > b);
}

async function observeOne(
  { chain, log }: Watcher,
  tx: Connection,
  transfer: ObservedTransfer,
  now: Date,
): Promise<void> {
  const refusal = await inSavepoint<unknown>(
    tx,
    async () => {
      await observeIn(tx, transfer, now);
      return undefined;
    },
    error => error,
  );
  if (refusal === undefined) return;
  if (isDatabaseUnavailable(refusal)) throw refusal;
  const { blockchainId, transactionHash, position, address, tokenAmount, blockHeight } = transfer;
  log.error({ err: refusal, blockchainId, transactionHash, position }, 'transfer not recorded');
  await addFinding(
    tx,
    {
      id: newId(),
      chain: chain.id,
      kind: 'unapplied',
      blockchainId,
      transactionHash,
      position,
      address,
      amount: tokenAmount,
      height: blockHeight,
      detail: refusal instanceof Error ? refusal.message : String(refusal),
    },
    now,
  );
}
