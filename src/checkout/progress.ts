import { chainOf, isChainId } from '../chains/chain-list.ts';
import { parseFinality, requiredBlocks } from '../chains/finality.ts';
import type { Connection } from '../database/connection.ts';
import type { Deposit } from '../database/deposit-tables.ts';
import type { Payment } from '../database/payment-tables.ts';
import type { NetworkOnChain } from '../repositories/chains/networks.ts';
import { listPaymentDeposits } from '../repositories/deposits/deposits.ts';
import { isWatchedInTime } from '../settlement/availability.ts';
import { type Remaining, readRemaining } from '../settlement/remaining.ts';

/** How far a transfer is from being final. */
export interface Confirmations {
  /**
   * Blocks from its own to the newest, both included, at most as many as it needs; 0 in the mempool. 1 in any
   * block of a chain with finality of its own.
   */
  readonly blocks: number;
  /** Blocks that it needs; `final` is the chain's own finality. */
  readonly required: number | 'final';
  /** Usual time until the chain's own finality, in milliseconds. */
  readonly usualMs: number;
}

/**
 * What is still due after a transfer of too little: `awaited` while it is not final, then the rest that
 * completes the payment.
 */
export type Rest = Remaining | 'awaited';

/** How a payment stands on the chosen network. */
export interface Progress {
  /** Whether transfers are now seen with a delay. */
  readonly isDelayed: boolean;
  /** Of the transfer that has been seen; null without one, and for a simulated one. */
  readonly confirmations: Confirmations | null;
  /** null unless too little has arrived, and without an amount for the rest. */
  readonly rest: Rest | null;
}

export const NO_PROGRESS: Progress = { isDelayed: false, confirmations: null, rest: null };

/** @param network The network that the payment's customer has chosen. */
export async function readProgress(
  db: Connection,
  payment: Payment,
  network: NetworkOnChain,
  now: Date,
): Promise<Progress> {
  if (payment.status !== 'pending') return NO_PROGRESS;
  const rest = await readRest(db, payment);
  if (network.settled_by !== 'chain') return { ...NO_PROGRESS, rest };
  const isSeen = payment.session_status === 'completed';
  const deposit = isSeen ? await findSeen(db, payment) : undefined;
  return {
    isDelayed: !isWatchedInTime(network, now),
    confirmations:
      deposit?.source === 'chain'
        ? confirmationsOf(network, deposit.block_height, payment.amount)
        : null,
    rest,
  };
}

/**
 * @param height Block of the transfer; null in a mempool.
 * @param cents What the payment asks for.
 */
export function confirmationsOf(
  network: NetworkOnChain,
  height: number | null,
  cents: number,
): Confirmations | null {
  if (!isChainId(network.chain)) return null;
  const chain = chainOf(network.chain);
  const required = requiredBlocks(parseFinality(network.finality ?? chain.finality), cents);
  const depth = height === null ? 0 : Math.max(1, (network.head_height ?? height) - height + 1);
  return toConfirmations(network.chain, depth, required);
}

/**
 * @param chain ID of a chain.
 * @param depth Blocks from the transfer's own to the newest, both included; 0 in a mempool.
 */
export function toConfirmations(
  chain: string,
  depth: number,
  required: number | 'final',
): Confirmations {
  return {
    blocks: Math.min(depth, required === 'final' ? 1 : required),
    required,
    usualMs: isChainId(chain) ? chainOf(chain).usualFinalityMs : 0,
  };
}

/** How far clocks of a chain's blocks may lead or lag, in milliseconds. */
export function clockSkewOf(chain: string): number {
  return isChainId(chain) ? chainOf(chain).clockSkewMs : 0;
}

async function readRest(db: Connection, payment: Payment): Promise<Rest | null> {
  if (payment.last_error_code !== 'amount_underpaid') return null;
  const remaining = await readRemaining(db, payment);
  if (remaining !== null) return remaining;
  const deposits = await listPaymentDeposits(db, payment.id);
  const isAwaited = deposits.some(({ state, outcome }) => state === 'seen' && outcome === 'under');
  return isAwaited ? 'awaited' : null;
}

/** Several transfers may have paid a payment together: the one that completed it is the latest. */
async function findSeen(db: Connection, payment: Payment): Promise<Deposit | undefined> {
  const deposits = await listPaymentDeposits(db, payment.id);
  return deposits.findLast(
    ({ state, transaction_hash: hash }) => state === 'seen' && hash === payment.transaction_hash,
  );
}
