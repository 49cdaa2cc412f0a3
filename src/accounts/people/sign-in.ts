import { Counter } from 'prom-client';
import { newId } from '#crypto/new-id.ts';
import { hashToken, newToken } from '#crypto/token.ts';
import type { Connection } from '#storage/database/connection.ts';
import type { Person } from '#storage/database/people-tables.ts';
import { transact } from '#storage/database/transaction.ts';
import { insertAuditEntry } from '#storage/repositories/accounts/audit-log.ts';
import {
  findPersonByEmail,
  lockPerson,
  updatePerson,
} from '#storage/repositories/people/people.ts';
import { insertDevice } from '#storage/repositories/people/sign-in-counters.ts';
import { isSameEmail } from '../input.ts';
import { actorOf } from './actor.ts';
import type { PeopleDependencies } from './dependencies.ts';
import { beginSession, type Visitor } from './panel-sessions.ts';
import { hashPassword, isSamePassword, verifyPassword } from './password-hash.ts';
import { takeTurnOfSite } from './password-queue.ts';
import { admitPassword, findDevice, type KnownDevice } from './throttle.ts';

export const signIns = new Counter({
  name: 'eps_panel_sign_ins_total',
  help: 'Passwords and codes given to the panel, by what was given and what came of it',
  labelNames: ['method', 'outcome'],
});

/** Stands in for the person of an unknown e-mail, so that its check takes as long as that of a known one. */
const NO_PERSON = '00000000-0000-0000-0000-000000000000';

interface Typed {
  readonly email: string;
  readonly password: string;
  /** Token hash of the invitation to accept afterwards; null without one. */
  readonly invitationHash: Buffer | null;
  /** ID of the browser's complete session, which ends once the second factor is given; null without one. */
  readonly replacedId: string | null;
}

/** A password that is compared, and whose failure is counted for the device. */
interface Guess extends Pick<Typed, 'email' | 'password'> {
  readonly device: KnownDevice;
  readonly now: Date;
}

/** Why a password signs nobody in, for the log alone. */
interface Refused {
  readonly token?: undefined;
  readonly personId?: string;
  readonly refusal: 'unknown-email' | 'wrong-password' | 'too-many-passwords';
}

/** The person whose password is right, and whether it should be hashed again. */
interface Identified {
  readonly person: Person;
  readonly isOld: boolean;
  readonly refusal?: undefined;
}

/** The token of the new session, or why there is none. */
type SignedIn = { readonly token: string; readonly personId: string } | Refused;

/**
 * Checks e-mail and password, and begins a session that waits for the second factor. A right password counts
 * as a failure until the second factor is given: guessing it must not earn more attempts.
 *
 * An e-mail that is not confirmed signs in only on devices that have signed in as its person. So whether it works does
 * not show whether somebody else has it.
 * @returns The session's token. The visitor does not learn the reason of a refusal.
 * @throws ApiError E5002 when too many sign in at once.
 */
export function signIn(
  deps: PeopleDependencies,
  typed: Typed,
  visitor: Visitor,
): Promise<SignedIn> {
  // An attempt that gets no turn does not count as a failure.
  return takeTurnOfSite(visitor.site, () => signInNow(deps, typed, visitor));
}

async function signInNow(
  deps: PeopleDependencies,
  typed: Typed,
  visitor: Visitor,
): Promise<SignedIn> {
  const { db, clock } = deps;
  const now = new Date(clock());
  const identified = await identify(deps, typed, visitor, now);
  if (identified.refusal !== undefined) {
    const outcome = identified.refusal === 'too-many-passwords' ? 'throttled' : 'refused';
    signIns.inc({ method: 'password', outcome });
    return identified;
  }
  const { person, isOld } = identified;
  const { password, invitationHash, replacedId } = typed;
  const renewed = isOld ? await hashPassword(deps, person.id, password) : undefined;
  signIns.inc({ method: 'password', outcome: 'accepted' });
  return transact(db, async tx => {
    const present = await lockPerson(tx, person.id);
    // The password was changed after it was compared.
    if (present === undefined || !isSamePassword(present, person)) {
      return { refusal: 'wrong-password', personId: person.id };
    }
    if (renewed !== undefined) await updatePerson(tx, person.id, renewed);
    const methods = ['password' as const];
    const token = await beginSession(tx, person, {
      methods,
      secondFactorAt: null,
      invitationHash,
      replacedId,
      visitor,
      now,
    });
    return { token, personId: person.id };
  });
}

/**
 * Finds the person whose e-mail and password they are: on their own device, or whoever has confirmed the e-mail. Somebody
 * may have joined in this browser with an e-mail that they sign in with already: where the password is not that of the
 * new person, it is compared once more as on an unknown device, and counted as there, whether anybody has confirmed the
 * e-mail or not.
 */
async function identify(
  deps: PeopleDependencies,
  { email, password }: Typed,
  { deviceToken }: Visitor,
  now: Date,
): Promise<Identified | Refused> {
  const { db } = deps;
  const compare = (device: KnownDevice, person: Person | undefined) =>
    comparePassword(deps, { email, password, device, now }, person);
  const known = await findDevice(db, deviceToken, now);
  if (known === undefined || !isSameEmail(known.person.email, email)) {
    return compare(null, await findPersonByEmail(db, email));
  }
  const own = await compare(known.tokenHash, known.person);
  if (own.refusal === undefined || known.person.email_confirmed_at !== null) return own;
  const holder = await findPersonByEmail(db, email);
  const other = await compare(null, holder);
  return holder === undefined ? own : other;
}

/** @param person Whose password it should be; without one, the check takes as long. */
async function comparePassword(
  deps: PeopleDependencies,
  { email, password, device, now }: Guess,
  person: Person | undefined,
): Promise<Identified | Refused> {
  const { db, keyring } = deps;
  if ((await admitPassword(db, keyring, { email, device, now })) === 'refused') {
    return { refusal: 'too-many-passwords' };
  }
  const { isRight, isOld } = await verifyPassword(deps, person?.id ?? NO_PERSON, person, password);
  if (person === undefined) return { refusal: 'unknown-email' };
  return isRight ? { person, isOld } : { refusal: 'wrong-password', personId: person.id };
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

/** Writes into the audit log that a person has signed in, or has changed what they sign in with. */
export async function auditPerson(
  tx: Connection,
  person: Pick<Person, 'id' | 'email' | 'email_confirmed_at' | 'is_demo'>,
  action: string,
  { address, now, detail = {} }: { address: string; now: Date; detail?: Record<string, unknown> },
): Promise<void> {
  await insertAuditEntry(tx, {
    id: newId(),
    actor: actorOf(person),
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
