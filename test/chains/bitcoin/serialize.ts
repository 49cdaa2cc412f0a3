import { createHash } from 'node:crypto';

/** The parts of a transaction, independent of the parser's types. */
export interface Draft {
  readonly version: number;
  readonly inputs: readonly {
    readonly hash: Uint8Array;
    readonly index: number;
    readonly script: Uint8Array;
    readonly witness: readonly Uint8Array[];
  }[];
  readonly outputs: readonly { readonly value: bigint; readonly script: Uint8Array }[];
  readonly lockTime: number;
}

export function doubleHash(bytes: Uint8Array): Buffer {
  const once = createHash('sha256').update(bytes).digest();
  return createHash('sha256').update(once).digest();
}

/** In the byte order of explorers. */
export function reversed(hash: Uint8Array): string {
  return Buffer.from(hash).reverse().toString('hex');
}

export function serialize(draft: Draft, withWitness = true): Buffer {
  const witnesses = draft.inputs.map(({ witness }) => witness);
  const marked = withWitness && witnesses.some(items => items.length > 0);
  return Buffer.concat([
    uint32(draft.version),
    Buffer.from(marked ? [0, 1] : []),
    list(draft.inputs, ({ hash, index, script }) =>
      Buffer.concat([hash, uint32(index), sized(script), uint32(0xffff_fffd)]),
    ),
    list(draft.outputs, ({ value, script }) => Buffer.concat([uint64(value), sized(script)])),
    ...(marked ? witnesses.map(items => list(items, sized)) : []),
    uint32(draft.lockTime),
  ]);
}

/** A block of these transactions, and its hash, without proof of work. */
export function serializeBlock(
  transactions: readonly Buffer[],
  root: Uint8Array,
): { readonly hex: string; readonly hash: string } {
  const header = Buffer.concat([uint32(4), Buffer.alloc(32, 7), root, Buffer.alloc(12, 9)]);
  const body = list(transactions, each => each);
  return {
    hex: Buffer.concat([header, body]).toString('hex'),
    hash: reversed(doubleHash(header)),
  };
}

/** Root of the Merkle tree; the last node of an odd level is paired with itself. */
export function rootOf(leaves: readonly Buffer[]): Buffer {
  const [first = Buffer.alloc(32)] = leaves;
  if (leaves.length === 1) return first;
  const filled = leaves.length % 2 === 0 ? leaves : [...leaves, ...leaves.slice(-1)];
  const pairs = Array.from({ length: filled.length / 2 }, (_, pair) =>
    doubleHash(Buffer.concat(filled.slice(2 * pair, 2 * pair + 2))),
  );
  return rootOf(pairs);
}

function uint32(value: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32LE(value);
  return bytes;
}

function uint64(value: bigint): Buffer {
  const bytes = Buffer.alloc(8);
  bytes.writeBigUInt64LE(value);
  return bytes;
}

export function compactSize(value: number): Buffer {
  if (value < 0xfd) return Buffer.of(value);
  if (value < 0x1_0000) return Buffer.of(0xfd, value & 0xff, value >> 8);
  return Buffer.concat([Buffer.of(0xfe), uint32(value)]);
}

function sized(bytes: Uint8Array): Buffer {
  return Buffer.concat([compactSize(bytes.length), bytes]);
}

function list<T>(items: readonly T[], write: (item: T) => Buffer): Buffer {
  return Buffer.concat([compactSize(items.length), ...items.map(write)]);
}
