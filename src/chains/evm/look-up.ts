import { type Node, NodeFailure } from '../../nodes/node.ts';
import type {
  ChainTransfer,
  ForeignTransfer,
  InternalTransfers,
  LookUpRequest,
  TransactionReport,
} from '../adapter.ts';
import { orThrow, toFields } from './answers.ts';
import { readHeaders, toTransaction } from './blocks.ts';
import { foreignTransfers, tokenTransfers, toReceipt } from './transfer-logs.ts';
import { allAddresses, indexWatched } from './watched.ts';

/** Gas of a transaction that calls no contract (Ethereum yellow paper, G_transaction). */
const PLAIN_TRANSFER_GAS = 21_000;
/** Transfers of other tokens that are told. */
const FOREIGN_MAXIMUM = 20;

/**
 * What became of a transaction: by its receipt, and by the block that the node has at its height.
 * @param internal Finds what contracts have sent, where the node traces.
 */
export async function lookUpTransaction(
  node: Node,
  { transactionHash, watch }: LookUpRequest,
  internal: Pick<InternalTransfers, 'trace'>,
): Promise<TransactionReport> {
  const [receiptAnswer, transactionAnswer] = await node.batch([
    { method: 'eth_getTransactionReceipt', params: [transactionHash] },
    { method: 'eth_getTransactionByHash', params: [transactionHash] },
  ]);
  const receipt = toReceipt(node, orThrow(receiptAnswer), transactionHash);
  const found = orThrow(transactionAnswer);
  if (receipt === null) {
    if (found === null || found === undefined) return { status: 'unknown' };
    const isPending = toFields(node, found, 'a transaction').blockNumber == null;
    if (isPending) return { status: 'pending', transfers: [] };
    throw new NodeFailure(`${node.label} has a transaction in a block, and no receipt of it`);
  }
  const [block] = await readHeaders(node, [receipt.height]);
  if (block === undefined || block.hash !== receipt.blockHash) {
    throw new NodeFailure(`${node.label} has a receipt of another branch`);
  }
  if (!receipt.succeeded) return { status: 'failed', block };

  const watched = indexWatched(watch);
  const transaction = toTransaction(node, found);
  const transfers: ChainTransfer[] = tokenTransfers(receipt, block, watched);
  const own = watched.native.get(transaction.to ?? '');
  if (own !== undefined && transaction.value > 0n) {
    transfers.push({
      blockchainId: own.network.id,
      transactionHash,
      position: 0,
      address: own.address,
      tokenAmount: transaction.value,
      block,
      inputs: null,
      maturity: 1,
    });
  }
  const mayTellMore = watched.native.size > 0 && receipt.gasUsed > PLAIN_TRANSFER_GAS;
  const traced = mayTellMore ? await internal.trace(node, block.height, watch) : [];
  if (traced?.some(each => each.block?.hash !== block.hash)) {
    throw new NodeFailure(`${node.label} has a trace of another branch`);
  }
  transfers.push(...(traced ?? []).filter(each => each.transactionHash === transactionHash));
  const addresses = allAddresses(watched);
  const foreign: ForeignTransfer[] = foreignTransfers(receipt, watched, addresses, FOREIGN_MAXIMUM);
  const isOtherNative = own === undefined && transaction.value > 0n;
  if (isOtherNative && addresses.has(transaction.to ?? '')) {
    foreign.push({ address: transaction.to ?? '', contract: null });
  }
  const untraced = traced === null && ({ untraced: true } as const);
  return { status: 'included', block, transfers, foreign, ...untraced };
}
