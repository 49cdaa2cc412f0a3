import type { ScanRequest, Unreadable } from '../adapter.ts';
import { requireChain } from '../evm/blocks.ts';
import { BLOCK_TIMEOUT_MS, type Node, NodeFailure, ResponseTooLarge } from '../nodes/node.ts';
import { heightsOf } from '../ranges.ts';
import { toFields, toList } from '../responses.ts';
import { type Block, type ChainTransfer, transferTo, type WatchedAddress } from '../transfer.ts';
import { findNamed, OtherResponse, readEach, readOrFailure } from '../unreadable.ts';
import {
  contractOf,
  hashOrNull,
  type TransactionInfo,
  toInfo,
  toPlainTransfer,
  toWalletBlock,
  type WalletBlock,
} from './responses.ts';

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
 * Reads whole blocks for transfers of TRX: by accounts, and by contracts if the node keeps these.
 * JSON-RPC is not used, since it shows a worthless TRC-10 asset like TRX.
 * @returns Addresses are in hex, as they were given.
 * @throws NodeFailure
 */
export async function scanNative(
  node: Node,
  { from, to, parentHash, undoableFrom }: ScanRequest,
  accounts: WatchedAccounts,
): Promise<{
  readonly through: Block;
  readonly transfers: ChainTransfer[];
  readonly unreadable: Unreadable[];
}> {
  const last = Math.min(to, from + BLOCKS_MAXIMUM - 1);
  const isSolid = last < undoableFrom;
  const blocks = isSolid
    ? await readSolidBlocks(node, from, last)
    : await readBlocks(node, from, last);
  requireChain(node, blocks, parentHash);
  const transfers: ChainTransfer[] = [];
  const unreadable: Unreadable[] = [];
  for (const block of blocks) {
    const onUnreadable =
      (name: 'txID' | 'id') =>
      (element: unknown, detail: string): void => {
        const { height } = block;
        const transactionHash = hashOrNull(element, name);
        // Without 0x, as the wallet interface writes them.
        const watched = findNamed(element, accounts.values(), each => each.address.slice(2));
        unreadable.push({ transactionHash, height, watched, detail });
      };
    transfers.push(
      ...readEach(
        block.transactions,
        each => plainTransfers(node, each, block, accounts),
        onUnreadable('txID'),
      ),
      ...readEach(
        await readInfos(node, block, isSolid),
        each => internalTransfers(toInfoOf(node, each, block, accounts), block, accounts),
        onUnreadable('id'),
      ),
    );
  }
  const through = blocks.at(-1);
  if (through === undefined) throw new NodeFailure(`${node.label} has no blocks of the range`);
  const { height, hash, parentHash: parent, time } = through;
  return { through: { height, hash, parentHash: parent, time }, transfers, unreadable };
}

/** Blocks of the newest branch, in one request unless they are too large for one response. */
export async function readBlocks(node: Node, from: number, to: number): Promise<WalletBlock[]> {
  const range = { startNum: from, endNum: to + 1 };
  const options = { timeoutMs: BLOCK_TIMEOUT_MS, mayBeTooLarge: to > from };
  let response: unknown;
  try {
    response = await node.post('/wallet/getblockbylimitnext', range, options);
  } catch (error) {
    if (!(error instanceof ResponseTooLarge)) throw error;
    const middle = Math.floor((from + to) / 2);
    const lower = await readBlocks(node, from, middle);
    return [...lower, ...(await readBlocks(node, middle + 1, to))];
  }
  const list = toList(node, toFields(node, response, 'blocks').block, 'blocks');
  return heightsOf(from, to).map((height, index) => toWalletBlock(node, list[index] ?? {}, height));
}

/** Solid blocks, for which the node has no call that returns several. */
async function readSolidBlocks(node: Node, from: number, to: number): Promise<WalletBlock[]> {
  const blocks: WalletBlock[] = [];
  for (const num of heightsOf(from, to)) {
    const options = { timeoutMs: BLOCK_TIMEOUT_MS };
    const response = await node.post('/walletsolidity/getblockbynum', { num }, options);
    blocks.push(toWalletBlock(node, response, num));
  }
  return blocks;
}

function plainTransfers(
  node: Node,
  transaction: unknown,
  block: WalletBlock,
  accounts: WatchedAccounts,
): ChainTransfer[] {
  const transfer = toPlainTransfer(node, transaction, to => accounts.has(to));
  if (transfer?.kind !== 'trx' || !transfer.succeeded || transfer.amount === 0n) return [];
  const watched = accounts.get(transfer.to);
  if (watched === undefined) return [];
  const { hash: transactionHash, amount: tokenAmount } = transfer;
  return [transferTo(watched, { transactionHash, position: 0, tokenAmount, block })];
}

/**
 * The information on a block's transactions; it is not read for a block without a call of a contract.
 * @param always Whether to read it for any block.
 */
export async function readInfos(
  node: Node,
  { height, transactions }: WalletBlock,
  isSolid: boolean,
  always = false,
): Promise<readonly unknown[]> {
  const isCall = (each: unknown) => contractOf(node, each).type === 'TriggerSmartContract';
  // A transaction that cannot be read may have been a call.
  const mayBeCalled = transactions.some(each => readOrFailure(() => isCall(each)) !== false);
  if (!always && !mayBeCalled) return [];
  const path = `${isSolid ? '/walletsolidity' : '/wallet'}/gettransactioninfobyblocknum`;
  const response = await node.post(path, { num: height }, { timeoutMs: BLOCK_TIMEOUT_MS });
  return toList(node, response, 'the information on a block');
}

/** Information on a transaction of a block. */
function toInfoOf(
  node: Node,
  value: unknown,
  { height }: Block,
  accounts: WatchedAccounts,
): TransactionInfo {
  const info = toInfo(node, value, to => accounts.has(to));
  if (info.height !== height) {
    throw new OtherResponse(
      `${node.label}: information on block ${info.height} came for ${height}`,
    );
  }
  return info;
}

/** TRX that contracts have sent to watched addresses in a transaction. */
export function internalTransfers(
  { hash: transactionHash, succeeded, internal }: TransactionInfo,
  block: Block,
  accounts: WatchedAccounts,
): ChainTransfer[] {
  if (!succeeded) return [];
  return internal.flatMap(({ index, to, amount: tokenAmount }) => {
    const watched = accounts.get(to);
    // 0 is the position of a plain transfer.
    const arrived = { transactionHash, position: 1 + index, tokenAmount, block };
    return watched === undefined ? [] : [transferTo(watched, arrived)];
  });
}
