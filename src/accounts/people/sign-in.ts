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
import { takeTurnOfSite } from './password-turns.ts';
import { admitPassword, findDevice } from './throttle.ts';

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

/** The token of the new session or, for the log alone, why there is none. */
type SignedIn = { readonly personId?: string } & (
  | { readonly token: string }
  | {
      readonly token?: undefined;
      readonly refusal: 'unknown-email' | 'wrong-password' | 'too-many-passwords';
    }
);

/**
 * Checks e-mail and password, and begins a session that waits for the second factor. A right password counts
 * as a failure until the second factor is given: guessing it must not earn more attempts.
 *
 * An e-mail that is not confirmed signs in only on devices that have signed in as its person. So it leads to one person
 * at most, and whether it works does not show whether somebody else has it.
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
  { email, password, invitationHash, replacedId }: Typed,
  visitor: Visitor,
): Promise<SignedIn> {
  const { db, keyring, clock } = deps;
  const now = new Date(clock());
  const found = await findDevice(db, visitor.deviceToken, now);
  const known = found && isSameEmail(found.person.email, email) ? found : undefined;
  const device = known?.tokenHash ?? null;
  if ((await admitPassword(db, keyring, { email, device, now })) === 'refused') {
    signIns.inc({ method: 'password', outcome: 'throttled' });
    return { refusal: 'too-many-passwords' };
  }
  const person = known?.person ?? (await findPersonByEmail(db, email));
  const { isRight, isOld } = await verifyPassword(deps, person?.id ?? NO_PERSON, person, password);
  if (person === undefined || !isRight) {
    signIns.inc({ method: 'password', outcome: 'refused' });
    if (person === undefined) return { refusal: 'unknown-email' };
    return { refusal: 'wrong-password', personId: person.id };
  }
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
