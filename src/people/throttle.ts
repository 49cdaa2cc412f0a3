import type { Keyring } from '../crypto/keyring.ts';
import { hashToken } from '../crypto/token.ts';
import type { Connection } from '../database/connection.ts';
import {
  type AttemptLimits,
  countAttempt,
  forgetAttempts,
  isKnownDevice,
} from '../repositories/sign-in-counters.ts';

const MINUTE_MS = 60_000;

/**
 * Ten failures in a quarter of an hour, then a quarter of an hour of refusals; a hundred in a row end
 * passwords until a new link (NIST SP 800-63B-4, 3.2.2).
 */
const LIMITS: AttemptLimits = { failures: 10, windowMs: 15 * MINUTE_MS, inRow: 100 };

/** How long a device that signed in is known, in milliseconds. */
export const DEVICE_KNOWN_MS = 180 * 24 * 60 * MINUTE_MS;

/**
 * The counter of what somebody typed as an e-mail, whether anybody has it or not. Devices that signed in as
 * that person before have counters of their own, so that nobody else can lock them out.
 */
export async function findCounter(
  db: Connection,
  keyring: Keyring,
  { email, device, now }: { email: string; device: string | undefined; now: Date },
): Promise<Buffer> {
  const since = new Date(now.getTime() - DEVICE_KNOWN_MS);
  const tokenHash = device === undefined ? undefined : hashToken(device);
  const isKnown = tokenHash !== undefined && (await isKnownDevice(db, { tokenHash, email, since }));
  return counterOf(keyring, email, isKnown ? tokenHash : undefined);
}

/** @returns Whether another attempt may be made; it counts as failed until `forget`. */
export function admitAttempt(db: Connection, counter: Buffer, now: Date): Promise<boolean> {
  return countAttempt(db, counter, LIMITS, now);
}

/** After a success, and for whoever comes with a new link. */
export async function forgetFailures(
  db: Connection,
  keyring: Keyring,
  email: string,
  counter?: Buffer,
): Promise<void> {
  await forgetAttempts(db, counter === undefined ? [counterOf(keyring, email)] : [counter]);
}

function counterOf(keyring: Keyring, email: string, device?: Buffer): Buffer {
  const kind = device === undefined ? 'unknown device' : device.toString('hex');
  return keyring.hash(email.toLowerCase(), `sign-in from ${kind}`);
}
