import { chainOf, isChainId } from '#chains/chain-list.ts';
import { parseFinality, requiredBlocks } from '#chains/finality.ts';
import { isWatchedInTime } from '#onchain/settlement/availability.ts';
import { type Remaining, remainingOf } from '#onchain/settlement/remaining.ts';
import type { Payment } from '#storage/database/payment-tables.ts';
import type { NetworkOnChain } from '#storage/repositories/chains/networks.ts';
import type { Parts } from '#storage/repositories/deposits/parts.ts';
import type { Transfer, Transfers } from '#storage/repositories/deposits/transfers.ts';

/** How far a transfer is from being final. */
export interface Confirmations {
  /**
   * Blocks from the transfer's own to the newest, both included, capped at what it needs; 0 in the mempool. In any
   * block, 1 if the chain has its own finality.
   */
  readonly blocks: number;
  /** Blocks that it needs; `final` is the chain's own finality. */
  readonly required: number | 'final';
  /** Usual time until the chain's own finality, in milliseconds. */
  readonly usualMs: number;
}

/**
 * What is still due after an underpayment: `awaited` while it is not final, then the rest that completes the payment.
 */
export type Rest = Remaining | 'awaited';

/** Progress of a payment on the chosen network. */
export interface Progress {
  /** Whether transfers are now seen with a delay. */
  readonly isDelayed: boolean;
  /** Of the transfer that has been seen; null without one, and for a simulated one. */
  readonly confirmations: Confirmations | null;
  /** null unless too little has arrived; also null while there is no amount for the rest. */
  readonly rest: Rest | null;
  /** Whether the address is the payment's own, where several transfers add up. */
  readonly isOwnAddress: boolean;
}

export const NO_PROGRESS: Progress = {
  isDelayed: false,
  confirmations: null,
  rest: null,
  isOwnAddress: false,
};

interface Arrived {
  /** The network that the payment's customer has chosen. */
  readonly network: NetworkOnChain;
  readonly transfers: Transfers;
  /** What has arrived at the payment's own address; null at any other address. */
  readonly parts: Parts | null;
  readonly now: Date;
}

export function progressOf(
  payment: Payment,
  { network, transfers, parts, now }: Arrived,
): Progress {
  if (payment.status !== 'pending') return NO_PROGRESS;
  const own = transfers.newest.filter(transfer => transfer.stray_kind === null);
  const rest = parts === null ? restOf(payment, own) : restOfParts(payment, network, parts);
  const isOwnAddress = parts !== null;
  if (network.settled_by !== 'chain') return { ...NO_PROGRESS, rest, isOwnAddress };
  const isSeen = payment.session_status === 'completed';
  const deposit = isSeen ? findSeen(payment, own) : undefined;
  return {
    isDelayed: !isWatchedInTime(network, now),
    confirmations:
      deposit?.source === 'chain'
        ? confirmationsOf(network, deposit.block_height, payment.amount)
        : null,
    rest,
    isOwnAddress,
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

/** How far the timestamps of a chain's blocks may lead or lag, in milliseconds. */
export function clockSkewOf(chain: string): number {
  return isChainId(chain) ? chainOf(chain).clockSkewMs : 0;
}

function restOfParts(payment: Payment, network: NetworkOnChain, parts: Parts): Rest | null {
  if (payment.session_status !== 'pending' || parts.arrived === 0n) return null;
  return remainingOf(parts, network, payment.address ?? '');
}

function restOf(payment: Payment, own: readonly Transfer[]): Rest | null {
  if (payment.last_error_code !== 'amount_underpaid') return null;
  if (payment.session_status !== 'pending') return null;
  for (const { rest_due: restDue, token_amount: received } of own) {
    if (restDue !== null) return { received: BigInt(received), remaining: BigInt(restDue) };
  }
  const isAwaited = own.some(({ state, outcome }) => state === 'seen' && outcome === 'under');
  return isAwaited ? 'awaited' : null;
}

/** Several transfers may have paid a payment together: the one that completed it is the latest. */
function findSeen(payment: Payment, own: readonly Transfer[]): Transfer | undefined {
  return own.findLast(
    ({ state, transaction_hash: hash }) => state === 'seen' && hash === payment.transaction_hash,
  );
}
