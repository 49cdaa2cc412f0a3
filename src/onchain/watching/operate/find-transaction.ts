import { audited, type Operator } from '#accounts/audit/audited-change.ts';
import { isNodeError } from '#chains/nodes/node.ts';
import { parseTransactionHash } from '#chains/transaction-hash.ts';
import type { WatchedAddress } from '#chains/transfer.ts';
import type { Connection } from '#storage/database/connection.ts';
import type { Network } from '#storage/database/network-tables.ts';
import { listSettledNetworks } from '#storage/repositories/chains/networks.ts';
import { listConfiguredAddresses } from '#storage/repositories/chains/watch-list.ts';
import { listDepositsByHash } from '#storage/repositories/deposits/deposits.ts';
import { findPayment } from '#storage/repositories/payments/payments.ts';
import { isMissing } from '../look-up/found-transfers.ts';
import { lookUpOnChain, type TransactionOnChain } from '../look-up/look-up.ts';
import { openChainNodes } from '../open-chain-nodes.ts';
import { toWatched } from '../watch-list.ts';
import { CommandRefused } from './command-refused.ts';
import { adapterFor, type NodeTools, requireChain } from './node-tools.ts';
import { requireSettled } from './operate-chain.ts';

/** Timeout of an operator's look-up, in milliseconds: a trace of a block takes long. */
const WAIT_MS = 60_000;
const SILENT = { error: () => undefined, warn: () => undefined, info: () => undefined };

/** A transaction, as the chain and the ledger know it. */
export interface FoundTransaction extends TransactionOnChain {
  readonly network: Network;
  /** As the chain writes it. */
  readonly transactionHash: string;
  /** Number of transfers in a block that the ledger lacks or records differently: the block is scanned again. */
  readonly missing: number;
}

/**
 * Looks up a transaction on a chain, with its transfers to any address that is configured on the chain's networks. It
 * credits nothing: a rescan of the block records what the ledger lacks.
 * @throws CommandRefused for an unknown network, one that no node settles, text that is no transaction hash, and
 * when no node answers.
 */
export async function findTransaction(
  operator: Operator,
  tools: NodeTools,
  networkId: string,
  text: string,
): Promise<FoundTransaction> {
  const { db, clock, actor } = operator;
  const network = await requireSettled(db, networkId);
  const transactionHash = parseTransactionHash(network.family, text.trim());
  if (transactionHash === undefined) {
    throw new CommandRefused(`"${text}" is no transaction hash of ${networkId}.`);
  }
  const chain = requireChain(network.chain);
  const adapter = adapterFor(tools, chain);
  const watch = await listWatched(db, chain.id);
  const cents = await findCents(db, networkId, transactionHash);
  const { keyring, isProduction } = tools;
  const options = { db, keyring, clock, logger: SILENT, isProduction, isBrief: true } as const;
  const nodes = openChainNodes(chain, adapter, options);
  let found: TransactionOnChain;
  try {
    await nodes.refresh();
    const node = await nodes.primary(AbortSignal.timeout(WAIT_MS));
    found = await lookUpOnChain(
      db,
      { adapter, node },
      {
        network,
        transactionHash,
        watch,
        cents,
        since: null,
        askedBy: actor,
        now: new Date(clock()),
      },
    );
  } catch (error) {
    throw refusalOf(error, chain.id);
  } finally {
    await nodes.close();
  }
  const isInBlock = found.occurredAt !== null;
  const missing = found.transfers.filter(each => isInBlock && isMissing(each)).length;
  if (missing > 0) {
    await audited(operator, 'network.find-transaction', async () => ({
      result: undefined,
      objectId: networkId,
      detail: { transactionHash, missing },
    }));
  }
  return { ...found, network, transactionHash, missing };
}

/** Every address that is configured on a network of the chain. */
async function listWatched(db: Connection, chain: string): Promise<WatchedAddress[]> {
  const watched: WatchedAddress[] = [];
  for (const { id } of await listSettledNetworks(db, chain)) {
    for (const address of toWatched(await listConfiguredAddresses(db, id))) watched.push(address);
  }
  return watched;
}

/** The amount, in cents, of the payment that the transaction belongs to; null without one. */
async function findCents(db: Connection, networkId: string, hash: string): Promise<number | null> {
  for (const { payment_id: id } of await listDepositsByHash(db, networkId, hash)) {
    const payment = id === null ? undefined : await findPayment(db, id);
    if (payment !== undefined) return payment.amount;
  }
  return null;
}

function refusalOf(error: unknown, chain: string): unknown {
  if (error instanceof DOMException && error.name === 'TimeoutError') {
    return new CommandRefused(`No node of ${chain} answered within ${WAIT_MS / 1000} s.`);
  }
  if (isNodeError(error)) {
    return new CommandRefused(`${chain} cannot be asked: ${error.message}.`);
  }
  return error;
}
