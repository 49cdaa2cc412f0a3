import type { Keyring } from '#crypto/keyring.ts';
import { hashToken } from '#crypto/token.ts';
import type { Connection } from '#storage/database/connection.ts';
import type { Person } from '#storage/database/people-tables.ts';
import { findPersonByDevice } from '#storage/repositories/people/people.ts';
import {
  type Admission,
  type AttemptLimits,
  countAttempt,
  forgetAttempts,
  listDevices,
} from '#storage/repositories/people/sign-in-counters.ts';

const MINUTE_MS = 60_000;

/**
 * After ten failures, each within a quarter of an hour of the one before, attempts are refused for a quarter
 * of an hour. After a hundred in a row, they are refused until a new link is used (NIST SP 800-63B-4, 3.2.2).
 */
export const ATTEMPT_LIMITS: AttemptLimits = {
  failures: 10,
  windowMs: 15 * MINUTE_MS,
  inRow: 100,
};

/** How long a device is known after signing in, in milliseconds. */
export const DEVICE_KNOWN_MS = 180 * 24 * 60 * MINUTE_MS;

/** Token hash of a device that has signed in as the person; null for any other device. */
export type KnownDevice = Buffer | null;

/** A person whose failures are counted. */
type Counted = Pick<Person, 'id' | 'email' | 'email_confirmed_at'>;

/**
 * The device of a token, and the person who has signed in with it.
 * @param token From the browser's cookie, if there is one.
 */
export async function findDevice(
  db: Connection,
  token: string | undefined,
  now: Date,
): Promise<{ readonly tokenHash: Buffer; readonly person: Person } | undefined> {
  if (token === undefined) return undefined;
  const tokenHash = hashToken(token);
  const since = new Date(now.getTime() - DEVICE_KNOWN_MS);
  const person = await findPersonByDevice(db, tokenHash, since);
  return person && { tokenHash, person };
}

/** The device of a token if it has signed in as this person: others may have named the same e-mail. */
export async function findKnownDevice(
  db: Connection,
  { personId, token, now }: { personId: string; token: string | undefined; now: Date },
): Promise<KnownDevice> {
  const device = await findDevice(db, token, now);
  return device?.person.id === personId ? device.tokenHash : null;
}

/**
 * Counts an attempt to sign in with an e-mail, whether a person has it or not. The attempt counts as failed
 * until a second factor is right. Call this before the password is checked, and outside of a transaction.
 * All devices that have not signed in as that person share a counter; each known device has its own, so that
 * failures elsewhere cannot lock the person out.
 */
export function admitPassword(
  db: Connection,
  keyring: Keyring,
  { email, device, now }: { email: string; device: KnownDevice; now: Date },
): Promise<Admission> {
  return countAttempt(db, passwordCounter(keyring, email, device), ATTEMPT_LIMITS, now);
}

/** The same for codes and recovery codes of a person, in all sessions together. */
export function admitCode(
  db: Connection,
  keyring: Keyring,
  { personId, device, now }: { personId: string; device: KnownDevice; now: Date },
): Promise<Admission> {
  return countAttempt(db, codeCounter(keyring, personId, device), ATTEMPT_LIMITS, now);
}

/** Resets the counters of a known device, or those of all unknown ones, after a right second factor. */
export function forgetFailures(
  db: Connection,
  keyring: Keyring,
  person: Counted,
  device: KnownDevice,
): Promise<void> {
  return forgetAttempts(db, countersOf(keyring, person, device));
}

/**
 * Resets the password counters of all devices, after a link by mail was used. The counters of codes stay:
 * whoever reads somebody's mail must not get more attempts at the other factor.
 */
export async function forgetPasswordFailures(
  db: Connection,
  keyring: Keyring,
  person: Counted,
): Promise<void> {
  const devices = [null, ...(await listDevices(db, person.id))];
  await forgetAttempts(
    db,
    devices.flatMap(device => passwordCountersOf(keyring, person, device)),
  );
}

/** Resets the counters of all devices, after a link was used that somebody made for the person. */
export async function forgetAllFailures(
  db: Connection,
  keyring: Keyring,
  person: Counted,
): Promise<void> {
  const devices = [null, ...(await listDevices(db, person.id))];
  await forgetAttempts(
    db,
    devices.flatMap(device => countersOf(keyring, person, device)),
  );
}

function countersOf(keyring: Keyring, person: Counted, device: KnownDevice): Buffer[] {
  return [...passwordCountersOf(keyring, person, device), codeCounter(keyring, person.id, device)];
}

/**
 * The counter of a person's passwords on a device. That of unknown devices belongs to whoever has confirmed the e-mail:
 * naming it must not earn more guesses at their password.
 */
function passwordCountersOf(
  keyring: Keyring,
  { email, email_confirmed_at: confirmedAt }: Counted,
  device: KnownDevice,
): Buffer[] {
  const isOfHolder = device === null && confirmedAt === null;
  return isOfHolder ? [] : [passwordCounter(keyring, email, device)];
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
