import { Counter } from 'prom-client';
import { newId } from '../../crypto/new-id.ts';
import { hashToken, newToken } from '../../crypto/token.ts';
import type { Connection } from '../../database/connection.ts';
import type { Person } from '../../database/people-tables.ts';
import { transact } from '../../database/transaction.ts';
import { insertAuditEntry } from '../../repositories/accounts/audit-log.ts';
import { findPersonByEmail, lockPerson, updatePerson } from '../../repositories/people/people.ts';
import { insertDevice } from '../../repositories/people/sign-in-counters.ts';
import type { PeopleDependencies } from './dependencies.ts';
import { beginSession, type Visitor } from './panel-sessions.ts';
import { hashPassword, isSamePassword, verifyPassword } from './password-hash.ts';
import { takeTurnOfSite } from './password-turns.ts';
import { admitPassword, findKnownDevice } from './throttle.ts';

export const signIns = new Counter({
  name: 'eps_panel_sign_ins_total',
  help: 'Passwords and codes given to the panel, by what was given and what came of it',
  labelNames: ['method', 'outcome'],
});

/** For an unknown e-mail, so that it costs what a known one does. */
const NOBODY = '00000000-0000-0000-0000-000000000000';

interface Typed {
  readonly email: string;
  readonly password: string;
  /** Of the invitation that is accepted afterwards; null for none. */
  readonly linkHash: Buffer | null;
  /** Complete session of the browser, which the second factor ends; null for none. */
  readonly replacedId: string | null;
}

/**
 * Checks e-mail and password, and begins the session that asks for the second factor. A right password counts
 * as a failure until that was given: whoever has guessed it must not get more attempts by it.
 * @returns The session's token; undefined for whatever is wrong, which is not told.
 * @throws ApiError E5002 when too many sign in at once.
 */
export function signIn(
  deps: PeopleDependencies,
  typed: Typed,
  visitor: Visitor,
): Promise<string | undefined> {
  // What is refused for want of a turn does not count as a failure.
  return takeTurnOfSite(visitor.site, () => signInNow(deps, typed, visitor));
}

async function signInNow(
  { db, keyring, clock }: PeopleDependencies,
  { email, password, linkHash, replacedId }: Typed,
  visitor: Visitor,
): Promise<string | undefined> {
  const now = new Date(clock());
  const device = await findKnownDevice(db, { email, token: visitor.deviceToken, now });
  if ((await admitPassword(db, keyring, { email, device, now })) === 'refused') {
    signIns.inc({ method: 'password', outcome: 'throttled' });
    return undefined;
  }
  const person = await findPersonByEmail(db, email);
  const { isRight, isOld } = await verifyPassword(keyring, person?.id ?? NOBODY, person, password);
  if (person === undefined || !isRight) {
    signIns.inc({ method: 'password', outcome: 'refused' });
    return undefined;
  }
  const renewed = isOld ? await hashPassword(keyring, person.id, password) : undefined;
  signIns.inc({ method: 'password', outcome: 'accepted' });
  return transact(db, async tx => {
    const present = await lockPerson(tx, person.id);
    // Changed since it was compared: then it was another one that was right.
    if (present === undefined || !isSamePassword(present, person)) return undefined;
    if (renewed !== undefined) await updatePerson(tx, person.id, renewed);
    const methods = ['password' as const];
    return beginSession(tx, person, {
      ...{ methods, secondFactorAt: null, linkHash, replacedId, visitor, now },
    });
  });
}

/**
 * Remembers the device of somebody who has signed in, so that failures elsewhere do not count for it.
 * @returns The token for the device's cookie.
 */
export async function rememberDevice(tx: Connection, personId: string, now: Date): Promise<string> {
  const token = newToken();
  await insertDevice(tx, { token_hash: hashToken(token), person_id: personId, created_at: now });
  return token;
}

/** Writes into the audit log that somebody has signed in, or has changed what they sign in with. */
export async function auditPerson(
  tx: Connection,
  person: Pick<Person, 'id' | 'email' | 'is_demo'>,
  action: string,
  { address, now, detail = {} }: { address: string; now: Date; detail?: Record<string, unknown> },
): Promise<void> {
  await insertAuditEntry(tx, {
    id: newId(),
    actor: person.email,
    action,
    objectType: 'person',
    objectId: person.id,
    detail,
    now,
    personId: person.id,
    origin: person.is_demo ? 'demo' : 'panel',
    address,
  });
}
