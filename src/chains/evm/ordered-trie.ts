import { type Input, RLP } from '@ethereumjs/rlp';
import { keccak_256 } from '@noble/hashes/sha3.js';
import { hex } from '@scure/base';

interface Item {
  /** One hexadecimal digit for each level of the trie. */
  readonly key: string;
  readonly value: Uint8Array;
}

/**
 * The root of the Merkle Patricia trie that maps RLP-encoded indexes to the elements of a list. Block headers have
 * such roots of transactions and receipts.
 * @param values 32 bytes or more each, so that every node is referred to by its hash (yellow paper, appendix D).
 * @returns 32 bytes as lower-case hex with 0x.
 */
export function orderedTrieRoot(values: readonly Uint8Array[]): string {
  const items = values
    .map((value, index): Item => ({ key: hex.encode(RLP.encode(index)), value }))
    .sort((one, other) => (one.key < other.key ? -1 : 1));
  return `0x${hex.encode(hashNode(items, 0))}`;
}

function hashNode(items: readonly Item[], depth: number): Uint8Array {
  return keccak_256(RLP.encode(toNode(items, depth)));
}

/** @param items Sorted by key. The keys agree in the first `depth` digits, and none is a prefix of another. */
function toNode(items: readonly Item[], depth: number): Input {
  const [first, last] = [items[0], items.at(-1)];
  if (first === undefined || last === undefined) return new Uint8Array();
  if (first === last) return [encodePath(first.key.slice(depth), true), first.value];
  // The keys are sorted, so a prefix of both the first and the last is one of all.
  let end = depth;
  while (first.key[end] === last.key[end]) end += 1;
  if (end > depth) return [encodePath(first.key.slice(depth, end), false), hashNode(items, end)];
  const below = Map.groupBy(items, ({ key }) => key[depth]);
  const branches = Array.from({ length: 16 }, (_, digit) => below.get(digit.toString(16)));
  // The last element is for a key that ends here, which no key does.
  return [...branches.map(own => (own ? hashNode(own, depth + 1) : '')), ''];
}

/** Hex-prefix encoding: the digits as bytes, with flags for a leaf and for an odd number of digits. */
function encodePath(digits: string, isLeaf: boolean): Uint8Array {
  const isOdd = digits.length % 2 === 1;
  const mark = (isLeaf ? 2 : 0) + (isOdd ? 1 : 0);
  return hex.decode(`${mark}${isOdd ? '' : '0'}${digits}`);
}
