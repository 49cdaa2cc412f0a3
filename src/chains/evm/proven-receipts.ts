import {
  BLOCK_TIMEOUT_MS,
  LaggingNode,
  type Node,
  type NodeCall,
  NodeFailure,
  ResponseTooLarge,
  RpcError,
} from '../nodes/node.ts';
import { inParts } from '../ranges.ts';
import { failure, toFields, toList, toMatch } from '../responses.ts';
import { hashOrNull, type WholeBlock } from './blocks.ts';
import { asNodeError } from './log-query.ts';
import { type Receipt, toReceipt } from './receipts.ts';
import { receiptsRoot } from './receipts-root.ts';
import { toCount, toHash } from './responses.ts';

/** Blocks whose receipts are asked for in one batch: some 500 to 900 KB each on Ethereum. */
const BLOCKS_PER_BATCH = 4;
/**
 * Failed proofs in a row after which a node counts as unable to prove. So many failed proofs of one block are borne;
 * after the next it is read without proof. Other nodes are asked meanwhile.
 */
const FAILURES_MAXIMUM = 5;
/** Blocks of a node that are remembered as unproven: more than a look has. */
const UNPROVEN_MAXIMUM = 100;
/** For how many blocks a node that is unable to prove is not asked again: 20 minutes of Ethereum. */
const SPARED_BLOCKS = 100;

/** Codes and texts for a method that a node does not have, or that a plan does not include. */
const UNABLE_CODES = [-32_601, -32_004];
const UNABLE =
  /method|unsupported|not (supported|available|allowed|enabled|whitelisted)|plan|tier|upgrade/i;

const BLOOM = /^0x[0-9a-f]{512}$/i;
const ADDRESS = /^0x[0-9a-f]{40}$/i;
const BYTES = /^0x([0-9a-f]{2})*$/i;

/** The root of an empty list: such a block has no receipts to ask for. */
const NONE = receiptsRoot([]);

/**
 * Receipts of whole blocks that hash to the roots in their headers, so that none is left out or altered. Only a
 * receipt's place in the block ties it to its transaction: the transaction's hash in it is not proven.
 */
export interface ProvenReceipts {
  /**
   * @param node The node that returned the blocks.
   * @returns For each block all its receipts, in their order; null if the node refuses them, says that there are too
   * many for a response, or has repeatedly failed to prove them.
   * @throws LaggingNode if it does not have the block, NodeFailure if receipts do not hash to the root.
   */
  read(node: Node, blocks: readonly WholeBlock[]): Promise<(readonly Receipt[] | null)[]>;
}

/** What is remembered about a node. */
interface ProofRecord {
  /** Failures in a row. */
  failures: number;
  /** For how many more blocks it is not asked. */
  spared: number;
  /** Failed proofs by block hash: a node may fail on one block each time, and prove all others. */
  readonly unproven: Map<string, number>;
}

export function createProvenReceipts(): ProvenReceipts {
  const records = new Map<string, ProofRecord>();

  async function ask(
    node: Node,
    blocks: readonly WholeBlock[],
    record: ProofRecord,
  ): Promise<(readonly Receipt[] | null)[]> {
    const asked = blocks.filter(({ fields }) => fields.receiptsRoot !== NONE);
    const responses = await node.batch(asked.map(toCall), { timeoutMs: BLOCK_TIMEOUT_MS });
    return blocks.map(block => {
      const at = asked.indexOf(block);
      const response = at === -1 ? [] : responses[at];
      if (response instanceof ResponseTooLarge) return null;
      if (response instanceof RpcError) {
        const error = asNodeError(node, response);
        if (error instanceof LaggingNode) throw error;
        if (isUnable(response)) record.spared = SPARED_BLOCKS;
        else noteFailure(record);
        return null;
      }
      try {
        const receipts = prove(node, response, block);
        record.failures = 0;
        return receipts;
      } catch (error) {
        if (isGivenUp(record, block)) return null;
        throw error;
      }
    });
  }

  return {
    async read(node, blocks) {
      const record = records.get(node.id) ?? { failures: 0, spared: 0, unproven: new Map() };
      records.set(node.id, record);
      const proven: (readonly Receipt[] | null)[] = [];
      for (const together of inParts(blocks, BLOCKS_PER_BATCH)) {
        if (record.spared > 0) {
          record.spared -= together.length;
          proven.push(...together.map(() => null));
          continue;
        }
        try {
          proven.push(...(await ask(node, together, record)));
        } catch (error) {
          if (!(error instanceof NodeFailure)) throw error;
          noteFailure(record);
          if (record.spared === 0) throw error;
          proven.push(...together.map(() => null));
        }
      }
      return proven;
    },
  };
}

/** Counts a failed proof of a block. Returns whether the block is now to be read without proof. */
function isGivenUp({ unproven }: ProofRecord, { hash }: WholeBlock): boolean {
  const times = unproven.get(hash) ?? 0;
  const [oldest] = unproven.keys();
  if (oldest !== undefined && unproven.size >= UNPROVEN_MAXIMUM) unproven.delete(oldest);
  unproven.set(hash, times + 1);
  return times >= FAILURES_MAXIMUM;
}

function toCall({ hash }: WholeBlock): NodeCall {
  return { method: 'eth_getBlockReceipts', params: [hash], mayBeTooLarge: true };
}

function noteFailure(record: ProofRecord): void {
  record.failures += 1;
  if (record.failures < FAILURES_MAXIMUM) return;
  Object.assign(record, { failures: 0, spared: SPARED_BLOCKS });
}

function isUnable({ code, message }: RpcError): boolean {
  return UNABLE_CODES.includes(code) || UNABLE.test(message);
}

/**
 * The receipts of a block. Their logs keep only fields that are hashed; `gasUsed` and `fields` are not proven.
 * @throws LaggingNode, NodeFailure
 */
function prove(node: Node, response: unknown, block: WholeBlock): Receipt[] {
  if (response === null || response === undefined) {
    throw new LaggingNode(`${node.label} has no receipts of block ${block.height}`);
  }
  const { transactions, fields, height } = block;
  const list = toList(node, response, 'the receipts of a block');
  const hashed = list.map((each, index) => toHashed(node, each, index, block));
  const root = receiptsRoot(hashed.map(({ content }) => content));
  if (list.length !== transactions.length || root !== fields.receiptsRoot) {
    throw failure(node, `the receipts of block ${height} do not hash to the root in its header`);
  }
  return hashed.map(({ receipt }) => receipt);
}

function toHashed(node: Node, value: unknown, index: number, block: WholeBlock) {
  const fields = toFields(node, value, 'a receipt');
  const hash = toHash(node, fields.transactionHash, 'the transaction of a receipt');
  const transaction = block.transactions[index];
  // The hash of a transaction of an unknown kind may not be readable.
  const expected = typeof transaction === 'string' ? transaction : hashOrNull(transaction, 'hash');
  const receipt = toReceipt(node, fields, expected?.toLowerCase() ?? hash);
  if (receipt?.blockHash !== block.hash) throw failure(node, 'a receipt is of another block');
  const logs = receipt.logs.map(({ address, topics, data }) => ({
    address: toMatch(node, address, ADDRESS, 'the contract of a log', 'address'),
    topics: toList(node, topics, 'the topics of a log').map(topic =>
      toHash(node, topic, 'a topic of a log'),
    ),
    data: toMatch(node, data, BYTES, 'the data of a log', 'hex'),
  }));
  const content = {
    type: fields.type === undefined ? 0 : toCount(node, fields.type, 'the type of a receipt'),
    succeeded: receipt.succeeded,
    cumulativeGasUsed: toCount(node, fields.cumulativeGasUsed, 'the gas of a receipt'),
    logsBloom: toMatch(node, fields.logsBloom, BLOOM, 'the filter of a receipt', 'filter'),
    logs,
  };
  return { content, receipt: { ...receipt, logs } };
}
