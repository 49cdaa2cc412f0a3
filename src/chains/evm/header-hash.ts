import { RLP } from '@ethereumjs/rlp';
import { keccak_256 } from '@noble/hashes/sha3.js';
import { hex } from '@scure/base';
import type { Fields } from '../responses.ts';

const QUANTITY = /^0x[0-9a-f]+$/i;
const BYTES = /^0x([0-9a-f]{2})*$/i;

/** What a header has, in the order in which it is hashed (go-ethereum, core/types/block.go). */
const FIELDS: readonly (readonly [name: string, form: typeof QUANTITY | typeof BYTES])[] = [
  ['parentHash', BYTES],
  ['sha3Uncles', BYTES],
  ['miner', BYTES],
  ['stateRoot', BYTES],
  ['transactionsRoot', BYTES],
  ['receiptsRoot', BYTES],
  ['logsBloom', BYTES],
  ['difficulty', QUANTITY],
  ['number', QUANTITY],
  ['gasLimit', QUANTITY],
  ['gasUsed', QUANTITY],
  ['timestamp', QUANTITY],
  ['extraData', BYTES],
  ['mixHash', BYTES],
  ['nonce', BYTES],
  // Each of those that follow came with a fork, and older headers lack it.
  ['baseFeePerGas', QUANTITY],
  ['withdrawalsRoot', BYTES],
  ['blobGasUsed', QUANTITY],
  ['excessBlobGas', QUANTITY],
  ['parentBeaconBlockRoot', BYTES],
  ['requestsHash', BYTES],
];

/**
 * The hash of a header of Ethereum or BNB Smart Chain, from what a node tells of the block: 0x and lower case.
 * @returns null where a field has another form. A header with fields that are not known here, as those of Avalanche
 * and of forks to come, has another hash than its block.
 */
export function headerHash(header: Fields): string | null {
  const parts: (bigint | Uint8Array)[] = [];
  for (const [name, form] of FIELDS) {
    const value = header[name];
    if (value === undefined || value === null) continue;
    if (typeof value !== 'string' || !form.test(value)) return null;
    parts.push(form === QUANTITY ? BigInt(value) : Buffer.from(value.slice(2), 'hex'));
  }
  return `0x${hex.encode(keccak_256(RLP.encode(parts)))}`;
}
