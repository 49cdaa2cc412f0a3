import type { ForeignTransfer } from '../adapter.ts';
import type { Node } from '../nodes/node.ts';
import type { Fields } from '../responses.ts';
import { failure } from '../responses.ts';
import { type Block, type ChainTransfer, transferTo } from '../transfer.ts';
import type { Receipt } from './receipts.ts';
import type { Watched } from './watched.ts';

/** Keccak-256 of `Transfer(address,address,uint256)` (ERC-20). */
export const TRANSFER = '0xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef';

/** An address as a topic: 32 bytes, 12 of them zero. */
const ADDRESS_TOPIC = /^0x0{24}([0-9a-f]{40})$/;
const WORD = /^0x[0-9a-f]{64}$/;

/** A Transfer event of a token. */
interface TransferLog {
  /** All in lower case. */
  readonly contract: string;
  readonly from: string;
  readonly to: string;
  /** undefined if the data of the log is no amount. */
  readonly amount: bigint | undefined;
}

export function addressTopic(address: string): string {
  return `0x${address.slice(2).toLowerCase().padStart(64, '0')}`;
}

const lower = (text: unknown) => (typeof text === 'string' ? text.toLowerCase() : '');

/** Reads a log as a transfer of any amount; undefined for any other event, and for tokens that are not fungible. */
export function readTransfer({ address, topics, data }: Fields): TransferLog | undefined {
  if (typeof address !== 'string' || !Array.isArray(topics)) return undefined;
  // ERC-721 has the number of the token as a fourth topic, and no data.
  const [topic, from, to, ...others] = topics.map(lower);
  if (topic !== TRANSFER || from === undefined || others.length > 0) return undefined;
  const recipient = ADDRESS_TOPIC.exec(to ?? '')?.[1];
  if (recipient === undefined) return undefined;
  const word = lower(data);
  const amount = WORD.test(word) ? BigInt(word) : undefined;
  const sender = `0x${from.slice(-40)}`;
  return { contract: address.toLowerCase(), from: sender, to: `0x${recipient}`, amount };
}

/**
 * The transfers of tokens to watched addresses that a receipt shows. The position is the log's place among
 * those of its own transaction: `logIndex` counts through the block, and changes when the transaction gets
 * into another one.
 * @throws NodeFailure for a transfer to a watched address without an amount.
 */
export function tokenTransfers(
  node: Node,
  { logs, succeeded, transactionHash }: Receipt,
  block: Block,
  { tokens }: Watched,
): ChainTransfer[] {
  if (!succeeded) return [];
  return logs.flatMap((log, position) => {
    const transfer = log.removed === true ? undefined : readTransfer(log);
    if (transfer === undefined) return [];
    const watched = tokens.get(transfer.contract)?.get(transfer.to);
    if (watched === undefined || transfer.amount === 0n) return [];
    if (transfer.amount === undefined) {
      throw failure(node, `a transfer of ${transfer.contract} has no amount`);
    }
    const arrived = { transactionHash, position, tokenAmount: transfer.amount, block };
    return [transferTo(watched, arrived)];
  });
}

/** The logs of a receipt that are transfers of watched tokens to watched addresses, of 0 as well. */
export function watchedLogs({ logs }: Receipt, { tokens }: Watched): Fields[] {
  return logs.filter(log => {
    const transfer = readTransfer(log);
    return transfer !== undefined && tokens.get(transfer.contract)?.has(transfer.to) === true;
  });
}

/** Transfers of other tokens to these addresses. */
export function foreignTransfers(
  { logs }: Receipt,
  { tokens }: Watched,
  addresses: ReadonlySet<string>,
  limit: number,
): ForeignTransfer[] {
  return logs
    .flatMap(log => {
      const transfer = readTransfer(log);
      if (transfer === undefined || !addresses.has(transfer.to)) return [];
      if (tokens.get(transfer.contract)?.has(transfer.to) === true) return [];
      return [{ address: transfer.to, contract: transfer.contract }];
    })
    .slice(0, limit);
}
