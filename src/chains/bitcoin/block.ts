import { ByteReader, decodeHex, MalformedBytes } from './byte-reader.ts';
import { doubleSha256, showHash } from './hash.ts';
import { BLOCK_BYTES, readTransaction, type Transaction } from './transaction.ts';

/** What the header of a block says. */
interface BlockHeader {
  readonly parentHash: string;
  /** Merkle root of the transactions. */
  readonly root: string;
  readonly time: Date;
}

export interface ParsedBlock extends Omit<BlockHeader, 'root'> {
  readonly hash: string;
  readonly transactions: readonly Transaction[];
}

const HEADER_BYTES = 80;
/** Shortest transaction: version, lock time, the counts of inputs and outputs, and one of each without scripts. */
const TRANSACTION_BYTES = 60;

/**
 * Parses a block in hex. Its header must have the hash, and its transactions must be those that the header commits
 * to: a node can neither add nor change nor leave out one.
 * @throws MalformedBytes
 */
export function parseBlock(hex: string, hash: string): ParsedBlock {
  const reader = new ByteReader(decodeHex(hex, BLOCK_BYTES));
  const { parentHash, root, time } = readHeader(reader.take(HEADER_BYTES), hash);
  const count = reader.count(TRANSACTION_BYTES);
  const transactions = Array.from({ length: count }, () => readTransaction(reader));
  reader.end();
  refuseMisplacedCoinbase(transactions);
  requireRoot(
    transactions.map(each => each.hash),
    root,
  );
  return { hash, parentHash, time, transactions };
}

/**
 * Parses the header of a block in hex, which must have the hash.
 * @throws MalformedBytes
 */
export function parseHeader(hex: string, hash: string): BlockHeader {
  const bytes = decodeHex(hex, HEADER_BYTES);
  if (bytes.length !== HEADER_BYTES) throw new MalformedBytes('it is no header');
  return readHeader(bytes, hash);
}

function readHeader(bytes: Uint8Array, hash: string): BlockHeader {
  const found = showHash(doubleSha256(bytes));
  if (found !== hash) throw new MalformedBytes(`its hash is ${found}`);
  const header = new ByteReader(bytes.subarray(4));
  const parentHash = showHash(header.take(32));
  const root = showHash(header.take(32));
  return { parentHash, root, time: new Date(header.uint32() * 1_000) };
}

/**
 * Checks that a header commits to these transactions and to no other.
 * @param hashes Hashes of the transactions as bytes (not reversed), in the order of the block.
 * @throws MalformedBytes
 */
export function requireRoot(hashes: readonly Uint8Array[], root: string): void {
  if (showHash(merkleRoot(hashes)) !== root) {
    throw new MalformedBytes('its transactions are not those of the header');
  }
}

/**
 * The first transaction of a block, and no other, is a coinbase. This also refuses pairs of Merkle nodes in
 * place of transactions: 64 bytes can be read as a transaction, but not as a coinbase (CVE-2017-12842).
 */
function refuseMisplacedCoinbase(transactions: readonly Transaction[]): void {
  if (transactions.some((each, index) => each.isCoinbase !== (index === 0))) {
    throw new MalformedBytes('the coinbase is not the first transaction, or not the only one');
  }
}

/**
 * Merkle root of the transactions.
 * @throws MalformedBytes if the last nodes of a level are the same. A node without a partner is paired with
 * itself, so a list whose end is repeated has the root of the list without it (CVE-2012-2459).
 */
function merkleRoot(leaves: readonly Uint8Array[]): Uint8Array {
  let level = leaves;
  while (level.length > 1) level = nextLevel(level);
  const [root] = level;
  if (root === undefined) throw new MalformedBytes('it has no transactions');
  return root;
}

function nextLevel(level: readonly Uint8Array[]): Uint8Array[] {
  return Array.from({ length: Math.ceil(level.length / 2) }, (_, index) => {
    const left = level[2 * index] ?? new Uint8Array();
    const right = level[2 * index + 1];
    if (right !== undefined && Buffer.compare(left, right) === 0) {
      throw new MalformedBytes('its transactions are repeated');
    }
    return doubleSha256(left, right ?? left);
  });
}
