import { RLP } from '@ethereumjs/rlp';
import { keccak_256 } from '@noble/hashes/sha3.js';
import { hex } from '@scure/base';
import type { Fields } from '../responses.ts';

const QUANTITY = /^0x[0-9a-f]+$/i;
const BYTES = /^0x([0-9a-f]{2})*$/i;

/** The fields of a header, in the order in which they are hashed (go-ethereum, core/types/block.go). */
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
  // Each of the following came with a fork, and older headers lack it.
  ['baseFeePerGas', QUANTITY],
  ['withdrawalsRoot', BYTES],
  ['blobGasUsed', QUANTITY],
  ['excessBlobGas', QUANTITY],
  ['parentBeaconBlockRoot', BYTES],
  ['requestsHash', BYTES],
];

/**
 * Computes the hash of a header of Ethereum or BNB Smart Chain from a node's response.
 * @returns 0x and lower case; null if a field is malformed. If the header has fields that are not known here, as on
 * Avalanche and after future forks, the result differs from the block's hash.
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
