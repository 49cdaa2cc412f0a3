import { createHash } from 'node:crypto';

export const sha256 = (bytes: Buffer) => createHash('sha256').update(bytes).digest();
export const twice = (bytes: Buffer) => sha256(sha256(bytes));
/** A hash in the byte order in which it is displayed. */
export const shown = (hash: Buffer) => Buffer.from(hash).reverse().toString('hex');
const reversed = (hex: string) => Buffer.from(hex, 'hex').reverse();

export function uint32(value: number): string {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32LE(value);
  return bytes.toString('hex');
}

function uint64(value: bigint): string {
  const bytes = Buffer.alloc(8);
  bytes.writeBigUInt64LE(value);
  return bytes.toString('hex');
}

/** A length prefix, in Bitcoin's variable-length encoding. */
export function count(value: number): string {
  if (value < 0xfd) return value.toString(16).padStart(2, '0');
  return `fd${Buffer.from([value & 255, value >> 8]).toString('hex')}`;
}

/** A transaction in hex, and its ID. */
export interface BitcoinBytes {
  readonly id: string;
  readonly hex: string;
}

/**
 * @param inputs Outputs that it spends, as `id:index`.
 * @param outputs Values and scripts, in hex.
 */
export function writeTransaction(
  inputs: readonly string[],
  outputs: readonly (readonly [bigint, string])[],
): BitcoinBytes {
  const spent = inputs.map(each => {
    const [id = '', index] = each.split(':');
    return `${reversed(id).toString('hex')}${uint32(Number(index))}00ffffffff`;
  });
  const paid = outputs.map(
    ([value, script]) => `${uint64(value)}${count(script.length / 2)}${script}`,
  );
  const hex = `01000000${count(spent.length)}${spent.join('')}${count(paid.length)}${paid.join('')}00000000`;
  return { id: shown(twice(Buffer.from(hex, 'hex'))), hex };
}

/** The transaction that makes new coins, which differs with its height and the salt. */
export function writeCoinbase(height: number, salt: number, script: string): BitcoinBytes {
  const own = `08${uint32(height)}${uint32(salt)}`;
  const input = `${'00'.repeat(32)}ffffffff${count(own.length / 2)}${own}ffffffff`;
  const output = `${uint64(312_500_000n)}${count(script.length / 2)}${script}`;
  const hex = `0100000001${input}01${output}00000000`;
  return { id: shown(twice(Buffer.from(hex, 'hex'))), hex };
}

/** The header of a block in hex. */
export function writeHeader(parent: string, ids: readonly string[], time: number): string {
  const before = reversed(parent).toString('hex');
  const root = merkleRoot(ids).toString('hex');
  return `00000020${before}${root}${uint32(time)}ffff001d00000000`;
}

function merkleRoot(ids: readonly string[]): Buffer {
  let level: Buffer[] = ids.map(reversed);
  while (level.length > 1) {
    level = Array.from({ length: Math.ceil(level.length / 2) }, (_, index) => {
      const left = level[2 * index] ?? Buffer.alloc(0);
      return twice(Buffer.concat([left, level[2 * index + 1] ?? left]));
    });
  }
  return level[0] ?? Buffer.alloc(32);
}
