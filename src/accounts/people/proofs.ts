import { newId } from '#crypto/new-id.ts';
import type { Connection, Database } from '#storage/database/connection.ts';
import type { PanelSession, Person, SignInMethod } from '#storage/database/people-tables.ts';
import { inSavepoint, transact } from '#storage/database/transaction.ts';
import { insertAuditEntry } from '#storage/repositories/accounts/audit-log.ts';
import { lockPerson, updatePerson, useCodeStep } from '#storage/repositories/people/people.ts';
import {
  countWrong,
  deleteSession,
  type SessionWithPerson,
} from '#storage/repositories/people/sessions.ts';
import { tellPerson } from '../mail/notices.ts';
import { findCodeStep } from './codes.ts';
import type { PeopleDependencies } from './dependencies.ts';
import { renewToken, type Visitor } from './panel-sessions.ts';
import { isSamePassword, verifyPassword } from './password-hash.ts';
import { takeRecoveryCode } from './recovery-codes.ts';
import { SecondFactorClosed, SessionEnded, WrongProof } from './refusals.ts';
import { signIns } from './sign-in.ts';
import {
  ATTEMPT_LIMITS,
  admitCode,
  admitPassword,
  findKnownDevice,
  forgetFailures,
} from './throttle.ts';

/** Wrong codes and passwords after which a session ends. */
export const SESSION_WRONG_MAXIMUM = 5;

type CodeMethod = Extract<SignInMethod, 'code' | 'recovery-code'>;

/**
 * Runs an attempt at a password or a code in a session. It is counted as wrong before it is checked, so that
 * concurrent attempts all count: a stolen session must not allow guessing for long.
 * @throws SessionEnded after too many wrong attempts, and what `work` throws.
 */
export async function attemptIn<T>(
  db: Database,
  session: PanelSession,
  work: () => Promise<T>,
): Promise<T> {
  const count = await countWrong(db, session.id, SESSION_WRONG_MAXIMUM);
  if (count === undefined) return end();
  try {
    return await work();
  } catch (error) {
    if (count === SESSION_WRONG_MAXIMUM && error instanceof WrongProof) return end();
    throw error;
  }

  async function end(): Promise<never> {
    await deleteSession(db, session);
    throw new SessionEnded();
  }
}

/**
 * Compares a password. Call it in a turn of `password-queue.ts`.
 * @throws WrongProof for a wrong one, and after too many attempts.
 */
export async function provePassword(
  deps: PeopleDependencies,
  person: Person,
  password: string,
  visitor: Visitor,
): Promise<void> {
  const { db, keyring, clock } = deps;
  const now = new Date(clock());
  const { id: personId, email } = person;
  const device = await findKnownDevice(db, { personId, token: visitor.deviceToken, now });
  if ((await admitPassword(db, keyring, { email, device, now })) === 'refused') {
    signIns.inc({ method: 'password', outcome: 'throttled' });
    throw new WrongProof('password', 'too-many-passwords');
  }
  const { isRight } = await verifyPassword(deps, person.id, person, password);
  signIns.inc({ method: 'password', outcome: isRight ? 'accepted' : 'refused' });
  if (!isRight) throw new WrongProof('password', 'wrong-password', { wasRight: false });
}

/** Whose code is checked, and what it allows. */
interface CodeProof<T> extends SessionWithPerson {
  /** The person's row when the password was compared, if a password is part of the proof. */
  readonly compared?: Person;
  readonly visitor: Visitor;
  /** Receives the session's new token for the cookie once the code was right, even if `work` throws. */
  readonly renewed: (token: string) => void;
  /** Runs first in the transaction, to take locks that come before the person's. */
  readonly before?: (tx: Connection) => Promise<unknown>;
  /** Runs after a right code, in its transaction. If it throws, the code is used up nevertheless. */
  readonly work: (tx: Connection, person: Person, method: CodeMethod) => Promise<T>;
}

/** What `work` did after a right code. */
type Done<T> = { readonly method: CodeMethod; readonly token: string } & (
  | { readonly result: T }
  | { readonly failure: unknown }
);

/**
 * Checks a code of the authenticator app, or a recovery code, and uses it up. A right one resets the count of
 * failures on the same kind of device, and gives the session a new token.
 * @throws WrongProof; SecondFactorClosed for the wrong code that reaches the limit, and for every code after it;
 * SessionEnded if it has ended meanwhile.
 */
export async function proveCode<T>(
  { db, keyring, clock }: PeopleDependencies,
  text: string,
  { session, person: { id }, compared, visitor, renewed, before, work }: CodeProof<T>,
): Promise<T> {
  const now = new Date(clock());
  const device = await findKnownDevice(db, { personId: id, token: visitor.deviceToken, now });
  const admission = await admitCode(db, keyring, { personId: id, device, now });
  if (admission === 'refused') {
    signIns.inc({ method: 'code', outcome: 'throttled' });
    throw new SecondFactorClosed(device !== null);
  }
  const done = await transact<Done<T> | undefined>(db, async tx => {
    await before?.(tx);
    const person = await lockPerson(tx, id);
    if (person === undefined) throw new SessionEnded();
    if (compared !== undefined && !isSamePassword(person, compared)) {
      throw new WrongProof('password', 'wrong-password', { wasRight: true });
    }
    const method = await takeCode(tx, { keyring, clock }, person, text);
    if (method === undefined) {
      if (admission === 'last') await noteClosed(tx, person, visitor, now);
      return undefined;
    }
    await forgetFailures(tx, keyring, person, device);
    const token = await renewToken(tx, session.id);
    return inSavepoint<Done<T>>(
      tx,
      async () => ({ method, token, result: await work(tx, person, method) }),
      failure => ({ method, token, failure }),
    );
  });
  if (done === undefined) {
    signIns.inc({ method: 'code', outcome: 'refused' });
    if (admission === 'last') throw new SecondFactorClosed(device !== null);
    throw new WrongProof('code', 'wrong-code');
  }
  signIns.inc({ method: done.method, outcome: 'accepted' });
  renewed(done.token);
  if ('failure' in done) throw done.failure;
  return done.result;
}

/** Records that too many codes of a person were wrong: for a notice in the panel, by mail, and in the audit log. */
async function noteClosed(
  tx: Connection,
  person: Person,
  { address }: Visitor,
  now: Date,
): Promise<void> {
  await updatePerson(tx, person.id, { code_closed_at: now });
  await insertAuditEntry(tx, {
    id: newId(),
    actor: 'service',
    action: 'person.close-codes',
    objectType: 'person',
    objectId: person.id,
    personId: person.id,
    origin: 'panel',
    address,
    now,
    detail: { wrongCodes: ATTEMPT_LIMITS.failures },
  });
  const facts = { at: now.toISOString(), wrongCodes: ATTEMPT_LIMITS.failures };
  await tellPerson(tx, person.id, { kind: 'codes-closed', facts, now });
}

/** @returns Which kind of code was used up; undefined for a wrong one. */
async function takeCode(
  tx: Connection,
  { keyring, clock }: Pick<PeopleDependencies, 'keyring' | 'clock'>,
  person: Person,
  text: string,
): Promise<CodeMethod | undefined> {
  const { code_secret: sealed, code_key_version: version } = person;
  if (sealed !== null && version !== null) {
    const secret = keyring.open(sealed, person.id, version);
    const step = findCodeStep(secret, text, clock());
    if (step !== undefined && (await useCodeStep(tx, person.id, step))) return 'code';
  }
  const isRecovery = await takeRecoveryCode(tx, person.id, text, new Date(clock()));
  return isRecovery ? 'recovery-code' : undefined;
}
