import { v7 as uuidv7 } from 'uuid';
import { takeRandomBytes } from './random-bytes.ts';

const UUID_BYTES = 16;
/** Index of the version digit in the text of a UUID. */
const VERSION_AT = 14;
/** A clock that is set back by more than this, in milliseconds, was wrong before: IDs follow the new time. */
const SET_BACK_MS = 5 * 60_000;

let msecs = 0;
let seq = 0;

/**
 * A UUIDv7: it begins with the time in milliseconds, so that indexes grow at their end. Each ID is greater than the
 * one before it in this process, so that rows written within a millisecond keep their order. The exception is a clock
 * that is set back by minutes: to keep the order, this process would date all later rows into the future.
 */
export function newId(): string {
  const random = takeRandomBytes(UUID_BYTES);
  const now = Date.now();
  // The 32-bit counter within a millisecond starts at a random number in its lower half, to leave room above.
  if (now > msecs || msecs - now > SET_BACK_MS) {
    msecs = now;
    seq = random.readUInt32BE() >>> 1;
  } else seq += 1;
  return uuidv7({ random, msecs, seq });
}

/** When a UUIDv7 was made, in milliseconds since the epoch; undefined for a UUID of another version. */
export function timeOfId(id: string): number | undefined {
  if (id[VERSION_AT] !== '7') return undefined;
  return Number.parseInt(id.replace('-', '').slice(0, 12), 16);
}
