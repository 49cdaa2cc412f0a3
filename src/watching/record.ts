import type { ChainTransfer } from '../chains/adapter.ts';
import { newId } from '../crypto/new-id.ts';
import type { Connection } from '../database/connection.ts';
import { isDatabaseUnavailable } from '../database/errors.ts';
import type { Deposit } from '../database/tables.ts';
import { inSavepoint } from '../database/transaction.ts';
import { addFinding } from '../repositories/findings.ts';
import { type Finality, type ObservedTransfer, observeIn } from '../settlement/observe-transfer.ts';
import type { Happened } from './occurred-at.ts';
import type { Watcher } from './watcher.ts';

/** Transfers per transaction: few enough that locks of addresses are short. */
const TRANSFERS_PER_TRANSACTION = 50;

/** A transfer as it is reported to settlement. */
export function toObserved(
  transfer: ChainTransfer,
  finality: Finality,
  happened: Happened,
): ObservedTransfer {
  const { blockchainId, transactionHash, position, address, tokenAmount, block, inputs } = transfer;
  return {
    ...{ blockchainId, transactionHash, position, address, tokenAmount, inputs, finality },
    blockHeight: block?.height ?? null,
    blockHash: block?.hash ?? null,
    ...happened,
    source: 'chain',
  };
}

/** A known deposit as it is reported again, without its block; only the first report tells its time. */
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

/** When a known deposit was made. */
export function timeOf({ occurred_at, observed_at }: Deposit): Happened {
  const at = occurred_at ?? observed_at;
  return { occurredAt: at, earliestAt: at };
}

/**
 * Records what was observed of transfers, at most 50 in a transaction, each in a savepoint. Repeating it
 * changes nothing, so a worker that is killed in between repeats it.
 * @param after Runs in the last transaction, for instance to move the cursor.
 * @throws LeaseLost, and any error that means the database is unavailable. A transfer that the database
 * refuses becomes a finding, and is tried again later.
 */
export async function record(
  watcher: Watcher,
  observed: readonly ObservedTransfer[],
  after?: (tx: Connection, now: Date) => Promise<void>,
): Promise<void> {
  const sorted = observed.toSorted(inLockOrder);
  const chunks = Math.max(
    Math.ceil(sorted.length / TRANSFERS_PER_TRANSACTION),
    after === undefined ? 0 : 1,
  );
  for (let chunk = 0; chunk < chunks; chunk++) {
    const from = chunk * TRANSFERS_PER_TRANSACTION;
    const part = sorted.slice(from, from + TRANSFERS_PER_TRANSACTION);
    await watcher.lease.write(async tx => {
      const now = new Date(watcher.clock());
      for (const transfer of part) await observeOne(watcher, tx, transfer, now);
      if (chunk === chunks - 1) await after?.(tx, now);
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
      ...{ blockchainId, transactionHash, position, address, amount: tokenAmount },
      height: blockHeight,
      detail: refusal instanceof Error ? refusal.message : String(refusal),
    },
    now,
  );
}
