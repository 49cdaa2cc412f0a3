import { randomFillSync } from 'node:crypto';

/** Bytes that one call of the random generator makes: a call for a few of them costs as much. */
const pool = Buffer.alloc(4_096);
let used = pool.length;

/**
 * Random bytes for secrets, IDs and nonces, which nobody else gets.
 * @param count At most 4,096.
 * @returns A view that a later call overwrites: read it at once, and keep a copy.
 */
export function takeRandomBytes(count: number): Buffer {
  if (used + count > pool.length) {
    randomFillSync(pool);
    used = 0;
  }
  const taken = pool.subarray(used, used + count);
  used += count;
  if (taken.length !== count) throw new RangeError(`${count} random bytes at once`);
  return taken;
}
