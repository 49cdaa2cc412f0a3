import type { Connection } from '../database/connection.ts';
import type { PanelSession, Person } from '../database/people-tables.ts';
import { transact } from '../database/transaction.ts';
import { deleteSessionsOf } from '../repositories/panel-sessions.ts';
import { findPerson, lockPerson, updatePerson } from '../repositories/people.ts';
import type { PeopleDependencies } from './dependencies.ts';
import { checkNewPassword, type NewApp, sealApp } from './new-factors.ts';
import { hashPassword, isSamePassword, verifyPassword } from './password-hash.ts';
import { takeTurnOfSession } from './password-turns.ts';
import { renewRecoveryCodes } from './recovery-codes.ts';
import { WrongProof } from './refusals.ts';
import { takeCode } from './second-factor.ts';
import { auditPerson } from './sign-in.ts';

/** Proof that whoever changes what a person signs in with is that person (OWASP ASVS 5.0, 7.5.1). */
export interface Proof {
  readonly password: string;
  readonly code: string;
}

/** A change of what somebody signs in with. */
interface Change {
  /** For the audit log. */
  readonly action: string;
  /** Checks what was entered, and makes the person's columns that change once the proof is right. */
  readonly prepare: (person: Person) => () => Partial<Person> | Promise<Partial<Person>>;
  readonly renewsRecoveryCodes?: true;
}

/**
 * Changes the password of somebody who has signed in. All their other sessions end.
 * @throws WrongProof; FieldRefused for a password that is not accepted; ApiError E5002.
 */
export async function changePassword(
  deps: PeopleDependencies,
  session: PanelSession,
  proof: Proof,
  newPassword: string,
): Promise<void> {
  await change(deps, session, proof, {
    action: 'person.password',
    prepare({ email, name, id }) {
      checkNewPassword(newPassword, 'new-password', { email, names: [name] });
      return () => hashPassword(deps.keyring, id, newPassword);
    },
  });
}

/**
 * Changes the e-mail that somebody signs in with.
 * @throws WrongProof; ApiError E5002; an error of the database where somebody has it already.
 */
export async function changeEmail(
  deps: PeopleDependencies,
  session: PanelSession,
  proof: Proof,
  email: string,
): Promise<void> {
  await change(deps, session, proof, { action: 'person.email', prepare: () => () => ({ email }) });
}

/**
 * Replaces the authenticator app, and with it the recovery codes.
 * @returns The new recovery codes, shown once.
 * @throws WrongProof; FieldRefused for a wrong code of the new app; ApiError E5002.
 */
export function changeApp(
  deps: PeopleDependencies,
  session: PanelSession,
  proof: Proof,
  app: NewApp,
): Promise<string[]> {
  return change(deps, session, proof, {
    action: 'person.app',
    prepare({ id }) {
      const sealed = sealApp(deps.keyring, id, app, {
        now: deps.clock(),
        field: 'new-code',
        reason: 'This is not the code that the new app shows.',
      });
      return () => sealed;
    },
    renewsRecoveryCodes: true,
  });
}

/**
 * Makes new recovery codes; the former ones no longer work.
 * @returns The codes, shown once.
 * @throws WrongProof, ApiError E5002.
 */
export function changeRecoveryCodes(
  deps: PeopleDependencies,
  session: PanelSession,
  proof: Proof,
): Promise<string[]> {
  return change(deps, session, proof, {
    action: 'person.recovery-codes',
    prepare: () => () => ({}),
    renewsRecoveryCodes: true,
  });
}

/**
 * Checks the proof, makes the change, ends all other sessions and audits it. Only then is a connection held:
 * passwords are hashed before, when it is the session's turn.
 * @returns New recovery codes, if the change renews them.
 */
function change(
  deps: PeopleDependencies,
  session: PanelSession,
  { password, code }: Proof,
  { action, prepare, renewsRecoveryCodes }: Change,
): Promise<string[]> {
  const { db, keyring, clock } = deps;
  return takeTurnOfSession(session.id, async () => {
    const known = await findPerson(db, session.person_id);
    if (known === undefined) throw new Error('the person of the session is gone');
    const columnsOf = prepare(known);
    if (!(await verifyPassword(keyring, known.id, known, password)).isRight) {
      throw new WrongProof('password', 'This is not your password.');
    }
    const columns = await columnsOf();
    return transact(db, async tx => {
      const person = await lockPerson(tx, known.id);
      // Changed since it was compared: then it was another one that was right.
      if (person === undefined || !isSamePassword(person, known)) {
        throw new WrongProof('password', 'This is not your password any more.');
      }
      if ((await takeCode(tx, { keyring, clock }, person, code)) === undefined) {
        throw new WrongProof(
          'code',
          'This code is not right. Wait for the next one; each counts once.',
        );
      }
      return apply(tx, person);
    });

    async function apply(tx: Connection, person: Person): Promise<string[]> {
      if (Object.keys(columns).length > 0) await updatePerson(tx, person.id, columns);
      await deleteSessionsOf(tx, person.id, session.id);
      const { address } = session;
      await auditPerson(tx, person, action, { address, now: new Date(clock()) });
      return renewsRecoveryCodes === true ? renewRecoveryCodes(tx, person.id) : [];
    }
  });
}
