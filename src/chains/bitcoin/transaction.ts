import { ByteReader, decodeHex, MalformedBytes } from './byte-reader.ts';
import { doubleSha256, showHash } from './hash.ts';

export interface Output {
  /** Hex. */
  readonly script: string;
  /** Satoshi. */
  readonly value: bigint;
}

export interface Transaction {
  readonly id: string;
  /** Bytes of `id`, in the order of the block, for the Merkle tree. */
  readonly hash: Uint8Array;
  readonly isCoinbase: boolean;
  /** Outputs that it spends, as `id:index`; none for a coinbase. */
  readonly inputs: readonly string[];
  readonly outputs: readonly Output[];
}

/** A block weighs at most 4,000,000, and a byte weighs at least 1 (BIP-141). */
export const BLOCK_BYTES = 4_000_000;

/** Bytes of an input without signature, and of an output without script. */
const INPUT_BYTES = 41;
const OUTPUT_BYTES = 9;

/** All coins that there will ever be, in satoshi (Bitcoin Core, src/consensus/amount.h). */
const VALUE_MAXIMUM = 2_100_000_000_000_000n;

const NO_OUTPUT = `${'0'.repeat(64)}:${0xffff_ffff}`;

/**
 * Parses one transaction in hex, with witness or without (BIP-144).
 * @throws MalformedBytes
 */
export function parseTransaction(hex: string): Transaction {
  const reader = new ByteReader(decodeHex(hex, BLOCK_BYTES));
  const transaction = readTransaction(reader);
  reader.end();
  return transaction;
}

/** @throws MalformedBytes */
export function readTransaction(reader: ByteReader): Transaction {
  const version = reader.take(4);
  // Every transaction has inputs, so a zero in place of their number announces a witness.
  const hasWitness = reader.peek() === 0;
  if (hasWitness) readFlag(reader);
  const from = reader.position;
  const spent = readInputs(reader);
  const outputs = readOutputs(reader);
  const body = reader.bytes.subarray(from, reader.position);
  if (hasWitness) skipWitness(reader, spent.length);
  const hash = doubleSha256(version, body, reader.take(4));
  const isCoinbase = spent.length === 1 && spent[0] === NO_OUTPUT;
  return { id: showHash(hash), hash, isCoinbase, inputs: isCoinbase ? [] : spent, outputs };
}

function readFlag(reader: ByteReader): void {
  if (reader.peek(1) !== 1) throw new MalformedBytes('a transaction has no inputs');
  reader.take(2);
}

function readInputs(reader: ByteReader): string[] {
  const count = reader.count(INPUT_BYTES);
  if (count === 0) throw new MalformedBytes('a transaction has no inputs');
  return Array.from({ length: count }, () => {
    const spent = `${showHash(reader.take(32))}:${reader.uint32()}`;
    // Signature script and sequence number.
    reader.take(reader.count(1));
    reader.take(4);
    return spent;
  });
}

function readOutputs(reader: ByteReader): Output[] {
  const count = reader.count(OUTPUT_BYTES);
  if (count === 0) throw new MalformedBytes('a transaction has no outputs');
  return Array.from({ length: count }, () => {
    const value = reader.uint64();
    if (value > VALUE_MAXIMUM) throw new MalformedBytes('an output is worth more than all coins');
    return { value, script: Buffer.from(reader.take(reader.count(1))).toString('hex') };
  });
}

function skipWitness(reader: ByteReader, inputs: number): void {
  let items = 0;
  for (let input = 0; input < inputs; input += 1) {
    const count = reader.count(1);
    for (let item = 0; item < count; item += 1) reader.take(reader.count(1));
    items += count;
  }
  if (items === 0) throw new MalformedBytes('a witness is announced and empty');
}
