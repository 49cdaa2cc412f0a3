import { type Input, RLP } from '@ethereumjs/rlp';
import { keccak_256 } from '@noble/hashes/sha3.js';
import { hex } from '@scure/base';

/** Bytes that a node of the trie must have before it is referred to by its hash (yellow paper, appendix D). */
const HASHED_BYTES = 32;

interface Item {
  /** One hexadecimal digit for each level of the trie. */
  readonly key: string;
  readonly value: Uint8Array;
}

/**
 * The root of the Merkle Patricia trie that has the elements of a list by their RLP-encoded indexes, as headers
 * of blocks have it of transactions and receipts: 32 bytes as lower-case hex with 0x.
 */
export function orderedTrieRoot(values: readonly Uint8Array[]): string {
  const items = values
    .map((value, index): Item => ({ key: hex.encode(RLP.encode(index)), value }))
    .sort((one, other) => (one.key < other.key ? -1 : 1));
  const root = items.length === 0 ? new Uint8Array() : toNode(items, 0);
  return `0x${hex.encode(keccak_256(RLP.encode(root)))}`;
}

/** @param items In the order of their keys, which agree in the first `depth` digits; none begins another. */
function toNode(items: readonly Item[], depth: number): Input {
  const [first, last] = [items[0], items.at(-1)];
  if (first === undefined || last === undefined) return new Uint8Array();
  if (first === last) return [encodePath(first.key.slice(depth), true), first.value];
  // The keys are in order, so what the outermost two have in common all have.
  let end = depth;
  while (first.key[end] === last.key[end]) end += 1;
  if (end > depth) return [encodePath(first.key.slice(depth, end), false), toReference(items, end)];
  const below = Map.groupBy(items, ({ key }) => key[depth]);
  const branches = Array.from({ length: 16 }, (_, digit) => below.get(digit.toString(16)));
  // The last element is for a key that ends here, which no key does.
  return [...branches.map(own => (own ? toReference(own, depth + 1) : '')), ''];
}

function toReference(items: readonly Item[], depth: number): Input {
  const node = toNode(items, depth);
  const encoded = RLP.encode(node);
  return encoded.length < HASHED_BYTES ? node : keccak_256(encoded);
}

/** Digits as bytes, marked with what they lead to and whether their number is odd (hex-prefix encoding). */
function encodePath(digits: string, isLeaf: boolean): Uint8Array {
  const isOdd = digits.length % 2 === 1;
  const mark = (isLeaf ? 2 : 0) + (isOdd ? 1 : 0);
  return hex.decode(`${mark}${isOdd ? '' : '0'}${digits}`);
}
