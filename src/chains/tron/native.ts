import { AnswerTooLarge, BLOCK_TIMEOUT_MS, type Node, NodeFailure } from '../../nodes/node.ts';
import type { Block, ChainTransfer, ScanRequest, WatchedAddress } from '../adapter.ts';
import { toFields, toList } from '../answers.ts';
import { heightsOf, requireChain } from '../evm/blocks.ts';
import {
  contractOf,
  type InternalTransfer,
  type TransactionInfo,
  toInfo,
  toPlainTransfer,
  toWalletBlock,
  type WalletBlock,
} from './answers.ts';

/** Blocks of one scan, and of one request: a busy block has some 400 transactions. */
const BLOCKS_MAXIMUM = 20;

/** TRX at watched addresses, by address in hex. */
export type WatchedAccounts = ReadonlyMap<string, WatchedAddress>;

export function accountsOf(hex: readonly WatchedAddress[]): WatchedAccounts {
  return new Map(
    hex.flatMap(each => (each.network.contract === null ? [[each.address, each] as const] : [])),
  );
}

/**
 * Reads whole blocks for transfers of TRX: those that accounts make, and those of contracts where the node
 * keeps them. Never by JSON-RPC: there, a worthless TRC-10 asset looks like TRX.
 * @returns Addresses are in hex, as they were given.
 */
export async function scanNative(
  node: Node,
  { from, to, parentHash, undoableFrom }: ScanRequest,
  accounts: WatchedAccounts,
): Promise<{ readonly through: Block; readonly transfers: ChainTransfer[] }> {
  const last = Math.min(to, from + BLOCKS_MAXIMUM - 1);
  const isSolid = last < undoableFrom;
  const blocks = isSolid
    ? await readSolidBlocks(node, from, last)
    : await readBlocks(node, from, last);
  requireChain(node, blocks, parentHash);
  const transfers: ChainTransfer[] = [];
  for (const block of blocks) {
    transfers.push(...plainTransfers(node, block, accounts));
    const infos = await readInfos(node, block, isSolid);
    transfers.push(...infos.flatMap(info => internalTransfers(info, block, accounts)));
  }
  const through = blocks.at(-1);
  if (through === undefined) throw new NodeFailure(`${node.label} has no blocks of the range`);
  const { height, hash, parentHash: parent, time } = through;
  return { through: { height, hash, parentHash: parent, time }, transfers };
}

/** Blocks of the newest branch, in one request unless they are too large for one answer. */
async function readBlocks(node: Node, from: number, to: number): Promise<WalletBlock[]> {
  const range = { startNum: from, endNum: to + 1 };
  const options = { timeoutMs: BLOCK_TIMEOUT_MS, mayBeTooLarge: to > from };
  let answer: unknown;
  try {
    answer = await node.post('/wallet/getblockbylimitnext', range, options);
  } catch (error) {
    if (!(error instanceof AnswerTooLarge)) throw error;
    const middle = Math.floor((from + to) / 2);
    const lower = await readBlocks(node, from, middle);
    return [...lower, ...(await readBlocks(node, middle + 1, to))];
  }
  const list = toList(node, toFields(node, answer, 'blocks').block ?? [], 'blocks');
  return heightsOf(from, to).map((height, index) => toWalletBlock(node, list[index] ?? {}, height));
}

/** Blocks that the node has made solid, which it tells one by one. */
async function readSolidBlocks(node: Node, from: number, to: number): Promise<WalletBlock[]> {
  const blocks: WalletBlock[] = [];
  for (const num of heightsOf(from, to)) {
    const options = { timeoutMs: BLOCK_TIMEOUT_MS };
    const answer = await node.post('/walletsolidity/getblockbynum', { num }, options);
    blocks.push(toWalletBlock(node, answer, num));
  }
  return blocks;
}

function plainTransfers(
  node: Node,
  block: WalletBlock,
  accounts: WatchedAccounts,
): ChainTransfer[] {
  return block.transactions.flatMap(fields => {
    const transfer = toPlainTransfer(node, fields);
    if (transfer?.kind !== 'trx' || !transfer.succeeded || transfer.amount === 0n) return [];
    const watched = accounts.get(transfer.to ?? '');
    if (watched === undefined) return [];
    return [toTransfer(transfer.hash, 0, transfer.amount, block, watched)];
  });
}

/** What the node keeps of a block's transactions that contracts took part in. */
async function readInfos(
  node: Node,
  { height, transactions }: WalletBlock,
  isSolid: boolean,
): Promise<TransactionInfo[]> {
  if (!transactions.some(fields => contractOf(node, fields).type === 'TriggerSmartContract')) {
    return [];
  }
  const path = `${isSolid ? '/walletsolidity' : '/wallet'}/gettransactioninfobyblocknum`;
  const answer = await node.post(path, { num: height }, { timeoutMs: BLOCK_TIMEOUT_MS });
  const infos = toList(node, Array.isArray(answer) ? answer : [], 'information').map(each =>
    toInfo(node, each),
  );
  const stray = infos.find(info => info.height !== height);
  if (stray !== undefined) {
    throw new NodeFailure(`${node.label}: information on block ${stray.height} came for ${height}`);
  }
  return infos;
}

/** TRX that contracts have sent to watched addresses in a transaction. */
export function internalTransfers(
  { hash, succeeded, internal }: TransactionInfo,
  block: Block,
  accounts: WatchedAccounts,
): ChainTransfer[] {
  if (!succeeded) return [];
  return internal.flatMap(({ place, to, amount }: InternalTransfer) => {
    const watched = accounts.get(to ?? '');
    // 0 is the place of a plain transfer.
    return watched === undefined ? [] : [toTransfer(hash, 1 + place, amount, block, watched)];
  });
}

export function toTransfer(
  transactionHash: string,
  position: number,
  tokenAmount: bigint,
  { height, hash, time }: Pick<Block, 'height' | 'hash' | 'time'>,
  { network, address }: WatchedAddress,
): ChainTransfer {
  return {
    ...{ blockchainId: network.id, transactionHash, position, address, tokenAmount },
    block: { height, hash, time },
    inputs: null,
    maturity: 1,
  };
}
