import { randomFillSync } from 'node:crypto';
import { v7 as uuidv7 } from 'uuid';

const UUID_BYTES = 16;
/** IDs per call of the random generator, which costs ten times as much as the rest of an ID. */
const BATCH = 256;

const pool = new Uint8Array(UUID_BYTES * BATCH);
let used = pool.length;

/** A UUIDv7. It begins with the time in milliseconds, so that indexes grow at their end. */
export function newId(): string {
  if (used === pool.length) {
    randomFillSync(pool);
    used = 0;
  }
  const random = pool.subarray(used, used + UUID_BYTES);
  used += UUID_BYTES;
  return uuidv7({ random });
}
