import { type Input, RLP } from '@ethereumjs/rlp';
import { keccak_256 } from '@noble/hashes/sha3.js';
import { hex } from '@scure/base';

interface Item {
  /** One hexadecimal digit for each level of the trie. */
  readonly key: string;
  readonly value: Uint8Array;
}

/**
 * The root of the Merkle Patricia trie that has the elements of a list by their RLP-encoded indexes, as headers
 * of blocks have it of transactions and receipts: 32 bytes as lower-case hex with 0x.
 * @param values Of 32 bytes or more each, so that every node is referred to by its hash (yellow paper, appendix D).
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

/** @param items In the order of their keys, which agree in the first `depth` digits; none begins another. */
function toNode(items: readonly Item[], depth: number): Input {
  const [first, last] = [items[0], items.at(-1)];
  if (first === undefined || last === undefined) return new Uint8Array();
  if (first === last) return [encodePath(first.key.slice(depth), true), first.value];
  // The keys are in order, so what the outermost two have in common all have.
  let end = depth;
  while (first.key[end] === last.key[end]) end += 1;
  if (end > depth) return [encodePath(first.key.slice(depth, end), false), hashNode(items, end)];
  const below = Map.groupBy(items, ({ key }) => key[depth]);
  const branches = Array.from({ length: 16 }, (_, digit) => below.get(digit.toString(16)));
  // The last element is for a key that ends here, which no key does.
  return [...branches.map(own => (own ? hashNode(own, depth + 1) : '')), ''];
}

/** Digits as bytes, marked with what they lead to and whether their number is odd (hex-prefix encoding). */
function encodePath(digits: string, isLeaf: boolean): Uint8Array {
  const isOdd = digits.length % 2 === 1;
  const mark = (isLeaf ? 2 : 0) + (isOdd ? 1 : 0);
  return hex.decode(`${mark}${isOdd ? '' : '0'}${digits}`);
}
