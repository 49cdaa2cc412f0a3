import type { Keyring } from '../../crypto/keyring.ts';
import { hashToken } from '../../crypto/token.ts';
import type { Connection } from '../../database/connection.ts';
import type { Person } from '../../database/people-tables.ts';
import {
  type Admission,
  type AttemptLimits,
  countAttempt,
  forgetAttempts,
  isKnownDevice,
  listDevices,
} from '../../repositories/people/sign-in-counters.ts';

const MINUTE_MS = 60_000;

/**
 * Ten failures without a quarter of an hour between two, then a quarter of an hour of refusals; a hundred in a
 * row end attempts until a new link (NIST SP 800-63B-4, 3.2.2).
 */
export const ATTEMPT_LIMITS: AttemptLimits = {
  failures: 10,
  windowMs: 15 * MINUTE_MS,
  inRow: 100,
};

/** How long a device that signed in is known, in milliseconds. */
export const DEVICE_KNOWN_MS = 180 * 24 * 60 * MINUTE_MS;

/** Hash of the token of a device that signed in as the person before; null for any other device. */
export type KnownDevice = Buffer | null;

/** @param token That of the browser's cookie, if there is one. */
export async function findKnownDevice(
  db: Connection,
  { email, token, now }: { email: string; token: string | undefined; now: Date },
): Promise<KnownDevice> {
  if (token === undefined) return null;
  const since = new Date(now.getTime() - DEVICE_KNOWN_MS);
  const tokenHash = hashToken(token);
  return (await isKnownDevice(db, { tokenHash, email, since })) ? tokenHash : null;
}

/**
 * Counts an attempt at the password of what somebody typed as an e-mail, whether anybody has it or not. It counts
 * as failed until a second factor is right, and must be called before the password is looked at, outside of a
 * transaction. All devices that have not signed in as that person share a counter; the others have one each, so
 * that nobody can lock another person out.
 */
export function admitPassword(
  db: Connection,
  keyring: Keyring,
  { email, device, now }: { email: string; device: KnownDevice; now: Date },
): Promise<Admission> {
  return countAttempt(db, passwordCounter(keyring, email, device), ATTEMPT_LIMITS, now);
}

/** The same for codes and recovery codes of a person, in whichever session. */
export function admitCode(
  db: Connection,
  keyring: Keyring,
  { personId, device, now }: { personId: string; device: KnownDevice; now: Date },
): Promise<Admission> {
  return countAttempt(db, codeCounter(keyring, personId, device), ATTEMPT_LIMITS, now);
}

/** After a second factor that was right: forgets what failed on that kind of device. */
export function forgetFailures(
  db: Connection,
  keyring: Keyring,
  person: Pick<Person, 'id' | 'email'>,
  device: KnownDevice,
): Promise<void> {
  return forgetAttempts(db, countersOf(keyring, person, device));
}

/** After a link was used: forgets what failed on all devices. */
export async function forgetAllFailures(
  db: Connection,
  keyring: Keyring,
  person: Pick<Person, 'id' | 'email'>,
): Promise<void> {
  const devices = [null, ...(await listDevices(db, person.id))];
  await forgetAttempts(
    db,
    devices.flatMap(device => countersOf(keyring, person, device)),
  );
}

function countersOf(
  keyring: Keyring,
  { id, email }: Pick<Person, 'id' | 'email'>,
  device: KnownDevice,
): Buffer[] {
  return [passwordCounter(keyring, email, device), codeCounter(keyring, id, device)];
}

function passwordCounter(keyring: Keyring, email: string, device: KnownDevice): Buffer {
  return keyring.hash(email.toLowerCase(), `sign-in from ${nameOf(device)}`);
}

function codeCounter(keyring: Keyring, personId: string, device: KnownDevice): Buffer {
  return keyring.hash(personId, `code from ${nameOf(device)}`);
}

function nameOf(device: KnownDevice): string {
  return device === null ? 'unknown device' : device.toString('hex');
}
