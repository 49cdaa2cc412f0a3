import type {
  Arrival,
  ForeignTransfer,
  LookUpRequest,
  TransactionReport,
  Unreadable,
} from '../adapter.ts';
import { readHeader } from '../evm/blocks.ts';
import { readReceipts } from '../evm/receipts.ts';
import { foreignTransfers, tokenTransfers } from '../evm/transfer-logs.ts';
import { allAddresses, indexWatched } from '../evm/watched.ts';
import { type Node, NodeFailure } from '../nodes/node.ts';
import { failure, toFields } from '../responses.ts';
import { type Block, type ChainTransfer, transferTo } from '../transfer.ts';
import { readOrFailure } from '../unreadable.ts';
import {
  fromHexAddress,
  rpcOf,
  type Spelled,
  spell,
  toPlainHash,
  toPrefixedHash,
} from './json-rpc.ts';
import { accountsOf, internalTransfers } from './native.ts';
import { toInfo, toPlainTransfer } from './responses.ts';

/** Most transfers of other tokens in a report. */
const FOREIGN_MAXIMUM = 20;

/**
 * The state of a transaction, from the information that the node keeps on transactions in blocks, and from the block
 * that the node has at that height.
 */
export async function lookUpTransaction(
  node: Node,
  { transactionHash: hash, watch }: LookUpRequest,
): Promise<TransactionReport> {
  const response = await node.post('/wallet/gettransactioninfobyid', { value: hash });
  const sent = await node.post('/wallet/gettransactionbyid', { value: hash });
  const found = toFields(node, sent, 'a transaction');
  // For a transaction that does not exist the node returns an empty object.
  if (toFields(node, response, 'the information on a transaction').id === undefined) {
    return found.txID === undefined ? { status: 'unknown' } : { status: 'pending', transfers: [] };
  }
  const read = readOrFailure(() => ({
    info: toInfo(node, response),
    plain: toPlainTransfer(node, found),
  }));
  if (read instanceof NodeFailure) return { status: 'unreadable', detail: read.message };
  const { info, plain } = read;
  if (info.hash !== hash || found.txID === undefined) {
    throw failure(node, 'information came for another transaction');
  }
  const rpc = rpcOf(node);
  // Read after the information, so that a block that was undone meanwhile is noticed.
  const header = await readHeader(rpc, info.height);
  const block = toPlainBlock(header);
  if (!info.succeeded || plain?.succeeded === false) return { status: 'failed', block };

  const spelled = spell(watch);
  const accounts = accountsOf(spelled.hex);
  const transfers: ChainTransfer[] = internalTransfers(info, block, accounts);
  const own = plain === undefined ? undefined : accounts.get(plain.to);
  if (plain?.kind === 'trx' && own !== undefined && plain.amount > 0n) {
    const arrived = { transactionHash: hash, position: 0, tokenAmount: plain.amount, block };
    transfers.push(transferTo(own, arrived));
  }
  const tokens = plain === undefined ? await readTokens(rpc, hash, header, spelled) : NONE;
  if (tokens instanceof NodeFailure) return { status: 'unreadable', detail: tokens.message };
  const foreign =
    plain === undefined ? tokens.foreign : foreignOf(plain, spelled, own !== undefined);
  return {
    status: 'included',
    block,
    transfers: [...transfers, ...tokens.transfers].map(transfer => inCanonical(transfer, spelled)),
    foreign: foreign.map(each => ({
      address: fromHexAddress(each.address),
      contract: each.contract?.startsWith('0x') ? fromHexAddress(each.contract) : each.contract,
    })),
  };
}

interface Tokens {
  readonly transfers: readonly ChainTransfer[];
  readonly foreign: readonly ForeignTransfer[];
}

const NONE: Tokens = { transfers: [], foreign: [] };

async function readTokens(
  rpc: Node,
  hash: string,
  header: Block,
  { hex }: Spelled,
): Promise<Tokens | NodeFailure> {
  const prefixed = toPrefixedHash(hash);
  const receipt = (await readReceipts(rpc, [prefixed])).get(prefixed);
  // The wallet interface has shown it in a block, but perhaps another server has responded there.
  if (receipt === undefined) return new NodeFailure(`${rpc.label} has no receipt of ${hash}`);
  if (receipt instanceof NodeFailure) return receipt;
  if (receipt.blockHash !== header.hash) {
    throw new NodeFailure(`${rpc.label} has a receipt of another branch`);
  }
  const watched = indexWatched(hex);
  return readOrFailure(() => ({
    transfers: tokenTransfers(rpc, receipt, header, watched),
    foreign: foreignTransfers(receipt, watched, allAddresses(watched), FOREIGN_MAXIMUM),
  }));
}

/** A plain transfer to a watched address of an asset not watched there: TRC-10, or TRX if only tokens are watched. */
function foreignOf(
  plain: NonNullable<ReturnType<typeof toPlainTransfer>>,
  { hex }: Spelled,
  isWatched: boolean,
): readonly ForeignTransfer[] {
  const { to } = plain;
  if (!hex.some(({ address }) => address === to)) return [];
  if (plain.kind === 'trc-10') return [{ address: to, contract: plain.asset }];
  return isWatched || plain.amount === 0n ? [] : [{ address: to, contract: null }];
}

/** A transfer with hash and address as the chain writes them. */
export function inCanonical(transfer: ChainTransfer, spelled: Spelled): ChainTransfer {
  const { block } = transfer;
  return {
    ...canonical(transfer, spelled),
    block: block && { ...block, hash: toPlainHash(block.hash) },
  };
}

/** Like `inCanonical`, for an arrival without a block. */
export function canonical<T extends Omit<Arrival, 'tokenAmount'>>(each: T, spelled: Spelled): T {
  const { blockchainId, address, transactionHash } = each;
  return {
    ...each,
    transactionHash: toPlainHash(transactionHash),
    address: spelled.toCanonical(blockchainId, address),
  };
}

/** Like `inCanonical`, for an element that cannot be read. */
export function unreadableInCanonical(unreadable: Unreadable, spelled: Spelled): Unreadable {
  const { transactionHash } = unreadable;
  return {
    ...unreadable,
    transactionHash: transactionHash === null ? null : toPlainHash(transactionHash),
    watched: unreadable.watched.map(({ network, address }) => ({
      network,
      address: spelled.toCanonical(network.id, address),
    })),
  };
}

/** A block of JSON-RPC, with its hashes as the chain writes them. */
export function toPlainBlock(block: Block): Block {
  const { height, hash, parentHash, time } = block;
  return { height, hash: toPlainHash(hash), parentHash: toPlainHash(parentHash), time };
}
