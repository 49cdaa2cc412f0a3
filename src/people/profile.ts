import type { PanelSession, Person } from '../database/people-tables.ts';
import { transact } from '../database/transaction.ts';
import { deleteSessionsOf } from '../repositories/panel-sessions.ts';
import { lockPerson, updatePerson } from '../repositories/people.ts';
import { findCodeStep, isCodeSecret } from './codes.ts';
import type { PeopleDependencies } from './dependencies.ts';
import { FieldRefused } from './join.ts';
import { hashPassword, verifyPassword } from './password-hash.ts';
import { findPasswordFault } from './password-rules.ts';
import { renewRecoveryCodes } from './recovery-codes.ts';
import { takeCode } from './second-factor.ts';
import { auditPerson } from './sign-in.ts';

/** Proof that whoever changes what a person signs in with is that person (OWASP ASVS 5.0, 7.5.1). */
export interface Proof {
  readonly password: string;
  readonly code: string;
}

/** The password or the code is not that of the person. */
export class WrongProof extends FieldRefused {}

/**
 * Changes the password of somebody who has signed in. All their other sessions end.
 * @throws WrongProof; FieldRefused for a password that is not accepted; ApiError E5002.
 */
export function changePassword(
  deps: PeopleDependencies,
  session: PanelSession,
  proof: Proof,
  newPassword: string,
): Promise<void> {
  return change(deps, session, proof, 'person.password', async person => {
    const { email, name, id } = person;
    const fault = findPasswordFault(newPassword, { email, names: [name] });
    if (fault !== undefined) throw new FieldRefused('new-password', fault);
    return hashPassword(deps.keyring, id, newPassword);
  });
}

/**
 * Changes the e-mail that somebody signs in with.
 * @throws WrongProof; an error of the database where somebody has it already.
 */
export function changeEmail(
  deps: PeopleDependencies,
  session: PanelSession,
  proof: Proof,
  email: string,
): Promise<void> {
  return change(deps, session, proof, 'person.email', async () => ({ email }));
}

/**
 * Replaces the authenticator app, and with it the recovery codes.
 * @param app The new secret, and a code that the new app shows for it.
 * @returns The new recovery codes, shown once.
 * @throws WrongProof; FieldRefused for a wrong code of the new app.
 */
export async function changeApp(
  deps: PeopleDependencies,
  session: PanelSession,
  proof: Proof,
  app: { readonly secret: string; readonly code: string },
): Promise<string[]> {
  const { keyring, clock } = deps;
  let codes: string[] = [];
  await change(deps, session, proof, 'person.app', async (person, tx) => {
    const step = isCodeSecret(app.secret) ? findCodeStep(app.secret, app.code, clock()) : undefined;
    if (step === undefined) {
      throw new FieldRefused('new-code', 'This is not the code that the new app shows.');
    }
    codes = await renewRecoveryCodes(tx, person.id);
    return {
      code_secret: keyring.seal(app.secret, person.id),
      code_key_version: keyring.currentVersion,
      code_last_step: step,
    };
  });
  return codes;
}

/**
 * Makes new recovery codes; the former ones no longer work.
 * @returns The codes, shown once.
 * @throws WrongProof
 */
export async function changeRecoveryCodes(
  deps: PeopleDependencies,
  session: PanelSession,
  proof: Proof,
): Promise<string[]> {
  let codes: string[] = [];
  await change(deps, session, proof, 'person.recovery-codes', async (person, tx) => {
    codes = await renewRecoveryCodes(tx, person.id);
    return {};
  });
  return codes;
}

/** Checks the proof, makes the change, ends all other sessions and audits it, in one transaction. */
async function change(
  { db, keyring, clock }: PeopleDependencies,
  session: PanelSession,
  { password, code }: Proof,
  action: string,
  columnsOf: (
    person: Person,
    tx: Parameters<typeof lockPerson>[0],
  ) => Promise<Parameters<typeof updatePerson>[2]>,
): Promise<void> {
  const now = new Date(clock());
  await transact(db, async tx => {
    const person = await lockPerson(tx, session.person_id);
    if (person === undefined) throw new Error('the person of the session is gone');
    if (!(await verifyPassword(keyring, person.id, person, password)).isRight) {
      throw new WrongProof('password', 'This is not your password.');
    }
    if ((await takeCode(tx, { keyring, clock }, person, code)) === undefined) {
      throw new WrongProof(
        'code',
        'This code is not right. Wait for the next one; each counts once.',
      );
    }
    const columns = await columnsOf(person, tx);
    if (Object.keys(columns).length > 0) await updatePerson(tx, person.id, columns);
    await deleteSessionsOf(tx, person.id, session.id);
    await auditPerson(tx, person, action, { address: session.address, now });
  });
}
