import { v7 as uuidv7 } from 'uuid';
import { takeRandomBytes } from './random-bytes.ts';

const UUID_BYTES = 16;
/** Where the text of a UUID has its version. */
const VERSION_AT = 14;
/** A clock that is set back by more than this, in milliseconds, was wrong: IDs go by it again. */
const SET_BACK_MS = 5 * 60_000;

let msecs = 0;
let seq = 0;

/**
 * A UUIDv7: it begins with the time in milliseconds, so that indexes grow at their end. Each is greater than
 * the one before it in this process, so that rows written within a millisecond keep their order, unless the clock is
 * set back by minutes: otherwise rows would be of a month that has not begun until the process ends.
 */
export function newId(): string {
  const random = takeRandomBytes(UUID_BYTES);
  const now = Date.now();
  // The 32 bits that count within a millisecond begin at a random number that leaves room above it.
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
