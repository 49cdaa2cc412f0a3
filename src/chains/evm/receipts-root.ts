import { RLP } from '@ethereumjs/rlp';
import { concatBytes } from '@noble/hashes/utils.js';
import { orderedTrieRoot } from './ordered-trie.ts';

/** A log, as far as its block proves it. All is hex with 0x. */
interface HashedLog {
  readonly address: string;
  readonly topics: readonly string[];
  readonly data: string;
}

/**
 * A receipt, as far as its block proves it: that includes its place in the block, but neither the hash of its
 * transaction nor any other field that nodes add.
 */
export interface HashedReceipt {
  /** Type of the transaction (EIP-2718), less than 128; 0 for a legacy one. */
  readonly type: number;
  /** Whether the transaction had effect. Receipts before Byzantium (2017) have a root of the state instead. */
  readonly succeeded: boolean;
  readonly cumulativeGasUsed: number;
  /** 256 bytes as hex with 0x. */
  readonly logsBloom: string;
  readonly logs: readonly HashedLog[];
}

/**
 * The root of all receipts of a block, in their order, to compare with `receiptsRoot` of its header: lower-case hex
 * with 0x. Every type of transaction so far (0 to 4, EIP-2718) has the same four fields in its receipt; future types
 * are assumed to have them too.
 */
export function receiptsRoot(receipts: readonly HashedReceipt[]): string {
  return orderedTrieRoot(receipts.map(encodeReceipt));
}

function encodeReceipt(receipt: HashedReceipt): Uint8Array {
  const { type, succeeded, cumulativeGasUsed, logsBloom, logs } = receipt;
  const payload = RLP.encode([
    ...[succeeded ? 1 : 0, cumulativeGasUsed, toBytes(logsBloom)],
    logs.map(({ address, topics, data }) => [toBytes(address), topics.map(toBytes), toBytes(data)]),
  ]);
  return type === 0 ? payload : concatBytes(Uint8Array.of(type), payload);
}

function toBytes(text: string): Uint8Array {
  return Buffer.from(text.slice(2), 'hex');
}
