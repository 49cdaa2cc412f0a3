import { parseTransactionHash } from '#chains/transaction-hash.ts';
import type { WatchedAddress } from '#chains/transfer.ts';
import type { TransactionOnChain } from '#onchain/watching/look-up/look-up.ts';
import type { LookUps } from '#onchain/watching/look-up/look-ups.ts';
import type { Connection } from '#storage/database/connection.ts';
import type { Deposit } from '#storage/database/deposit-tables.ts';
import type { Payment } from '#storage/database/payment-tables.ts';
import {
  findNetworkOnChain,
  listSettledNetworks,
  type NetworkOnChain,
} from '#storage/repositories/chains/networks.ts';
import { listDepositsByHash } from '#storage/repositories/deposits/deposits.ts';
import { type Confirmations, clockSkewOf, confirmationsOf, toConfirmations } from './progress.ts';

/**
 * What a transaction means to a payment. From the ledger:
 * - `seen`, `final`, `reversed`, `failed`: state of the payment's own transfer
 * - `elsewhere`: it did not count for the payment
 *
 * From the chain, for a transaction that is not in the ledger:
 * - `not_found`, `pending` in the mempool, `included` in a block, `failed`, `replaced`
 * - `too_early`, `too_late`, `too_little`: it pays the payment's address, but not the payment
 * - `other_asset`, `other_address`, `untraceable`
 *
 * From neither: `unreadable` for text that is no transaction hash of the network, `unknown` if no node could
 * be asked.
 */
export type LookUpVerdict =
  | Deposit['state']
  | 'elsewhere'
  | 'not_found'
  | 'pending'
  | 'included'
  | 'replaced'
  | 'too_early'
  | 'too_late'
  | 'too_little'
  | 'other_asset'
  | 'other_address'
  | 'untraceable'
  | 'unreadable'
  | 'unknown';

export interface LookUpResult {
  readonly verdict: LookUpVerdict;
  /** As the chain writes it; null for text that is no hash. */
  readonly transactionHash: string | null;
  /** Of a transfer that is in the mempool or a block and not final; null for any other. */
  readonly confirmations: Confirmations | null;
}

/**
 * Looks up a transaction on the chosen network for a payment: in the ledger, and if it is not there, on the
 * chain.
 * @param text What the customer entered as its hash.
 * @param client Identifies the network that the customer asks from.
 */
export async function lookUpTransaction(
  { db, lookUps }: { readonly db: Connection; readonly lookUps: LookUps },
  payment: Payment,
  text: string,
  { client, now }: { readonly client: string; readonly now: Date },
): Promise<LookUpResult> {
  const { blockchain_id: id } = payment;
  const network = id === null ? undefined : await findNetworkOnChain(db, id);
  const hash = network && parseTransactionHash(network.family, text.trim());
  const found = (verdict: LookUpVerdict, confirmations: Confirmations | null = null) => ({
    verdict,
    transactionHash: hash ?? null,
    confirmations,
  });
  if (network === undefined) return found('unknown');
  if (hash === undefined) return found('unreadable');
  const deposits = await listDepositsByHash(db, network.id, hash);
  const own = deposits.find(deposit => deposit.payment_id === payment.id);
  if (own !== undefined) {
    const waits = own.state === 'seen' && own.source === 'chain';
    return found(
      own.state,
      waits ? confirmationsOf(network, own.block_height, payment.amount) : null,
    );
  }
  if (deposits.length > 0) {
    // A reversed deposit no longer belongs to a payment.
    const isUndone = deposits.every(deposit => deposit.state === 'reversed');
    return found(isUndone ? 'reversed' : 'elsewhere');
  }
  const onChain = await askChain({ db, lookUps }, payment, network, hash, { client, now });
  if (onChain === null) return found('unknown');
  const verdict = judge(payment, network, onChain);
  const waits = verdict === 'pending' || verdict === 'included';
  const { confirmations: depth, required } = onChain;
  return found(verdict, waits ? toConfirmations(network.chain, depth, required) : null);
}

/** null if no node settles the network, or none could be asked now. */
async function askChain(
  { db, lookUps }: { readonly db: Connection; readonly lookUps: LookUps },
  { id, address, amount, created_at: createdAt }: Payment,
  network: NetworkOnChain,
  transactionHash: string,
  { client, now }: { readonly client: string; readonly now: Date },
): Promise<TransactionOnChain | null> {
  if (network.settled_by !== 'chain' || address === null) return null;
  const settled = await listSettledNetworks(db, network.chain);
  const watch = settled.map(({ id: own, contract }): WatchedAddress => {
    return { network: { id: own, contract }, address };
  });
  const question = {
    network,
    transactionHash,
    watch,
    now,
    cents: amount,
    since: new Date(createdAt.getTime() - clockSkewOf(network.chain)),
    askedBy: `payment ${id}`,
  };
  return lookUps.ask(question, client);
}

/** What a transaction that is not in the ledger means to a payment. */
function judge(
  payment: Payment,
  network: NetworkOnChain,
  { verdict, occurredAt, transfers }: TransactionOnChain,
): LookUpVerdict {
  if (verdict === 'unknown') return 'not_found';
  if (verdict !== 'pending' && verdict !== 'included' && verdict !== 'final') return verdict;
  const skew = clockSkewOf(network.chain);
  const ended = payment.status !== 'pending';
  if (occurredAt !== null) {
    const at = occurredAt.getTime();
    if (at < payment.created_at.getTime() - skew) return 'too_early';
    if (ended || at > payment.expires_at.getTime()) return 'too_late';
  }
  const amounts = transfers
    .filter(({ blockchainId }) => blockchainId === network.id)
    .map(({ tokenAmount }) => tokenAmount);
  const asked = BigInt(payment.token_amount ?? 0);
  if (amounts.length > 0 && amounts.every(amount => amount < asked)) return 'too_little';
  return verdict === 'pending' ? 'pending' : 'included';
}
