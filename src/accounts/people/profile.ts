import type { Connection } from '#storage/database/connection.ts';
import { isUniqueViolation } from '#storage/database/errors.ts';
import type { Person } from '#storage/database/people-tables.ts';
import { endEmailLinks } from '#storage/repositories/people/email-links.ts';
import { endLinksOf } from '#storage/repositories/people/invitations.ts';
import { findPerson, updatePerson } from '#storage/repositories/people/people.ts';
import { deleteSessionsOf, type SessionWithPerson } from '#storage/repositories/people/sessions.ts';
import { isSameEmail } from '../input.ts';
import { tellPerson } from '../mail/notices.ts';
import { askToConfirm } from './confirm-email.ts';
import type { PeopleDependencies } from './dependencies.ts';
import { checkPasswordOf, type NewApp, readEmail, sealApp } from './new-factors.ts';
import type { Visitor } from './panel-sessions.ts';
import { hashPassword } from './password-hash.ts';
import { takeTurnOfSession } from './password-queue.ts';
import { attemptIn, proveCode, provePassword } from './proofs.ts';
import { renewRecoveryCodes } from './recovery-codes.ts';
import { FieldRefused, SessionEnded } from './refusals.ts';
import { auditPerson } from './sign-in.ts';

/** What proves that a change of sign-in data is made by the person themselves (OWASP ASVS 5.0, 7.5.1). */
export interface Proof extends SessionWithPerson {
  readonly visitor: Visitor;
  /** Receives the session's new token. */
  readonly renewed: (token: string) => void;
  readonly password: string;
  readonly code: string;
}

/** A change of what somebody signs in with. */
interface Change {
  /** For the audit log, and the notice to the person. */
  readonly what: 'password' | 'app' | 'recovery-codes' | 'email';
  /** Checks the input. The function that it returns makes the columns to update, once the proof is right. */
  readonly prepare: (person: Person) => () => Partial<Person> | Promise<Partial<Person>>;
  readonly renewsRecoveryCodes?: true;
  /** Whether the password and the codes stay the same. */
  readonly keepsFactors?: true;
}

/** A change that prepares no columns. */
const noColumns: Change['prepare'] = () => () => ({});

/**
 * Changes the password of somebody who has signed in.
 * @throws FieldRefused for a password that is not accepted, and as `change` does.
 */
export async function changePassword(
  deps: PeopleDependencies,
  proof: Proof,
  password: string,
): Promise<string[]> {
  await checkPasswordOf(deps, proof.person, password, 'new-password');
  return change(deps, proof, {
    what: 'password',
    prepare:
      ({ id }) =>
      async () => ({
        ...(await hashPassword(deps, id, password)),
        code_closed_at: null,
      }),
  });
}

/**
 * Changes the e-mail that somebody signs in with. Where mail is sent, it changes once the link in a mail to it is used.
 * @throws FieldRefused for an invalid one or, without mail, one that somebody else has, and as `change` does.
 */
export async function changeEmail(
  deps: PeopleDependencies,
  proof: Proof,
  typed: string,
): Promise<string[]> {
  const email = readEmail(typed);
  if (deps.sendsMail) return askForEmail(deps, proof, email);
  try {
    return await change(deps, proof, {
      what: 'email',
      prepare: () => () => ({ email, email_confirmed_at: new Date(deps.clock()) }),
      keepsFactors: true,
    });
  } catch (error) {
    if (!isUniqueViolation(error)) throw error;
    throw new FieldRefused('email', 'email-in-use');
  }
}

function askForEmail(deps: PeopleDependencies, proof: Proof, email: string): Promise<string[]> {
  return prove(deps, proof, noColumns, async (tx, present) => {
    const now = new Date(deps.clock());
    const { id: personId, email_confirmed_at: confirmedAt } = present;
    const { address } = proof.visitor;
    // One that is not confirmed signs in nowhere but on the person's own devices.
    if (confirmedAt === null) {
      await updatePerson(tx, personId, { email });
      // A link in the mail to a mistyped one must not bring that back.
      if (!isSameEmail(present.email, email)) await endEmailLinks(tx, personId, now);
    }
    await askToConfirm(tx, deps, { personId, email, address }, now);
    await auditPerson(tx, present, 'person.ask-email', { address, now, detail: { email } });
    return [];
  });
}

/**
 * Replaces the authenticator app, and with it the recovery codes.
 * @returns The new recovery codes, shown once.
 * @throws FieldRefused for a wrong code of the new app, and as `change` does.
 */
export function changeApp(deps: PeopleDependencies, proof: Proof, app: NewApp): Promise<string[]> {
  return change(deps, proof, {
    what: 'app',
    prepare({ id }) {
      const sealed = sealApp(deps.keyring, id, app, { now: deps.clock(), field: 'new-code' });
      return () => sealed;
    },
    renewsRecoveryCodes: true,
  });
}

/**
 * Makes new recovery codes; the former ones no longer work.
 * @returns The codes, shown once.
 * @throws As `change` does.
 */
export function changeRecoveryCodes(deps: PeopleDependencies, proof: Proof): Promise<string[]> {
  return change(deps, proof, {
    what: 'recovery-codes',
    prepare: noColumns,
    renewsRecoveryCodes: true,
  });
}

/**
 * Makes the change once it is proved, ends all other sessions and open links, audits it and notifies the person.
 * @returns New recovery codes, if the change renews them.
 * @throws As `prove` does.
 */
function change(
  deps: PeopleDependencies,
  proof: Proof,
  { what, prepare, renewsRecoveryCodes, keepsFactors }: Change,
): Promise<string[]> {
  return prove(deps, proof, prepare, async (tx, present, columns) => {
    const now = new Date(deps.clock());
    const { address } = proof.visitor;
    // Before the change, so that a change of e-mail notifies the former address.
    const facts = { what, withLink: false, at: now.toISOString(), address };
    await tellPerson(tx, present.id, { kind: 'sign-in-changed', facts, now });
    const times = keepsFactors === true ? {} : { factors_since: now };
    await updatePerson(tx, present.id, { ...columns, ...times });
    await deleteSessionsOf(tx, present.id, proof.session.id);
    // Whoever reads the mailbox, or made a link for the person, must not be able to undo this change.
    const own = { person_id: present.id, merchant_user_id: null, partner_member_id: null };
    await endLinksOf(tx, own, { now });
    await endEmailLinks(tx, present.id, now);
    await auditPerson(tx, present, `person.${what}`, { address, now });
    return renewsRecoveryCodes === true ? renewRecoveryCodes(tx, present.id) : [];
  });
}

/**
 * Checks the proof. Passwords are hashed in the session's turn, before the transaction takes a connection.
 * @param work Runs in the transaction that uses up the code, with the columns that were prepared.
 * @throws WrongProof, SecondFactorClosed, SessionEnded; ApiError E5002 when too many wait for a turn.
 */
function prove<T>(
  deps: PeopleDependencies,
  { session, person, visitor, renewed, password, code }: Proof,
  prepare: Change['prepare'],
  work: (tx: Connection, present: Person, columns: Partial<Person>) => Promise<T>,
): Promise<T> {
  const { db } = deps;
  return takeTurnOfSession(session.id, async () => {
    const compared = await findPerson(db, person.id);
    if (compared === undefined) throw new SessionEnded();
    const columnsOf = prepare(compared);
    return attemptIn(db, session, async () => {
      await provePassword(deps, compared, password, visitor);
      const columns = await columnsOf();
      return proveCode(deps, code, {
        session,
        person,
        compared,
        visitor,
        renewed,
        work: (tx, present) => work(tx, present, columns),
      });
    });
  });
}
