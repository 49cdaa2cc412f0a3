import { randomFillSync } from 'node:crypto';

/** Filled by one call of the random generator: a call for a few bytes costs as much. */
const pool = Buffer.alloc(4_096);
let used = pool.length;

/**
 * Random bytes for secrets, IDs and nonces. No byte is handed out twice.
 * @param count At most 4,096.
 * @returns A view that a later call overwrites: use it at once, or copy it.
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
