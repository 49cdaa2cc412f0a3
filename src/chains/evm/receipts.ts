import { eachAlone } from '../missing-items.ts';
import { LaggingNode, type Node, NodeFailure } from '../nodes/node.ts';
import { inParts } from '../ranges.ts';
import { type Fields, failure, toFields, toList } from '../responses.ts';
import type { Block } from '../transfer.ts';
import { OtherResponse, readEach } from '../unreadable.ts';
import { toCount, toHash } from './responses.ts';

/** Receipts that are asked for in one batch. */
const RECEIPTS_PER_BATCH = 50;

/** The receipt of a transaction in a block. */
export interface Receipt {
  readonly transactionHash: string;
  readonly blockHash: string;
  readonly height: number;
  readonly succeeded: boolean;
  readonly gasUsed: number;
  readonly logs: readonly Fields[];
  /** The receipt as the node has sent it. */
  readonly fields: Fields;
}

/**
 * @returns null for a transaction without a receipt.
 * @throws NodeFailure for one that cannot be read.
 */
export function toReceipt(node: Node, value: unknown, transactionHash: string): Receipt | null {
  if (value === null || value === undefined) return null;
  const fields = toFields(node, value, 'a receipt');
  const receipt = {
    transactionHash: toHash(node, fields.transactionHash, 'the transaction of a receipt'),
    blockHash: toHash(node, fields.blockHash, 'the block of a receipt'),
    height: toCount(node, fields.blockNumber, 'the block of a receipt'),
    succeeded: toStatus(node, fields.status),
    gasUsed: toCount(node, fields.gasUsed, 'the gas of a receipt'),
    logs: toList(node, fields.logs, 'the logs of a receipt').map(log =>
      toFields(node, log, 'a log'),
    ),
    fields,
  };
  if (receipt.transactionHash !== transactionHash) {
    throw new OtherResponse(`${node.label}: a receipt came for another transaction`);
  }
  return receipt;
}

/** Whether a transaction had effect (EIP-658). */
function toStatus(node: Node, value: unknown): boolean {
  if (value === '0x1') return true;
  if (value === '0x0') return false;
  throw failure(node, 'a receipt does not say whether its transaction failed');
}

/**
 * The receipts of these transactions, by their hashes; those without one are left out. A receipt that cannot be
 * read is replaced by its failure: a LaggingNode if the node refuses it.
 * @param isPart See `readEach`.
 * @throws NodeFailure if there are several and none can be read, RpcError if there are several and all are refused.
 */
export async function readReceipts(
  node: Node,
  hashes: readonly string[],
  isPart = false,
): Promise<Map<string, Receipt | NodeFailure>> {
  const receipts = new Map<string, Receipt | NodeFailure>();
  for (const together of inParts(hashes, RECEIPTS_PER_BATCH)) {
    const responses = await node.batch(
      together.map(hash => ({ method: 'eth_getTransactionReceipt', params: [hash] })),
    );
    const alone = eachAlone(node, responses);
    const listed = together.map((hash, index) => ({ hash, response: alone[index] }));
    for (const { hash, response } of listed) {
      if (response instanceof LaggingNode) receipts.set(hash, response);
    }
    const read = readEach(
      listed.filter(({ response }) => !(response instanceof LaggingNode)),
      ({ hash, response }) => [{ hash, receipt: toReceipt(node, response, hash) }],
      ({ hash }, detail) => receipts.set(hash, new NodeFailure(detail)),
      isPart,
    );
    for (const { hash, receipt } of read) if (receipt !== null) receipts.set(hash, receipt);
  }
  return receipts;
}

/** The receipt of a transaction in this block, or the failure to read it: a LaggingNode if there is none. */
export function requireReceipt(
  node: Node,
  receipts: ReadonlyMap<string, Receipt | NodeFailure>,
  transactionHash: string,
  { hash }: Pick<Block, 'hash'>,
): Receipt | NodeFailure {
  const receipt = receipts.get(transactionHash);
  if (receipt instanceof NodeFailure) return receipt;
  if (receipt?.blockHash !== hash) {
    return new LaggingNode(
      `${node.label}: the receipt of ${transactionHash} is missing, or of another branch`,
    );
  }
  return receipt;
}
