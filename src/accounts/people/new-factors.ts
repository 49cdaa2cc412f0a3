import type { Keyring } from '#crypto/keyring.ts';
import type { Person } from '#storage/database/people-tables.ts';
import { listMemberships } from '#storage/repositories/people/memberships.ts';
import { parseEmail } from '../input.ts';
import { findCodeStep, isCodeSecret } from './codes.ts';
import type { PeopleDependencies } from './dependencies.ts';
import { findPasswordFault } from './password-rules.ts';
import { FieldRefused } from './refusals.ts';

/** A new authenticator app. */
export interface NewApp {
  /** Its secret in base32, and a code that it shows for it. */
  readonly secret: string;
  readonly code: string;
}

/** What somebody signs in with from now on. */
export interface NewFactors extends NewApp {
  readonly password: string;
}

/** The columns of a person's app. */
type StoredApp = Pick<Person, 'code_secret' | 'code_key_version' | 'code_last_step'>;

/** @throws FieldRefused about the field `email` for text that is not an e-mail address. */
export function readEmail(text: string): string {
  const email = parseEmail(text.trim());
  if (email !== undefined) return email;
  throw new FieldRefused('email', 'email-invalid');
}

/**
 * Seals the secret of a new app, and uses up its code.
 * @throws FieldRefused about the field of the code, when the app shows another code.
 */
export function sealApp(
  keyring: Keyring,
  personId: string,
  { secret, code }: NewApp,
  { now, field }: { now: number; field: 'code' | 'new-code' },
): StoredApp {
  const step = isCodeSecret(secret) ? findCodeStep(secret, code, now) : undefined;
  if (step === undefined) {
    throw new FieldRefused(field, field === 'code' ? 'app-code-wrong' : 'new-app-code-wrong');
  }
  return {
    code_secret: keyring.seal(secret, personId),
    code_key_version: keyring.currentVersion,
    code_last_step: step,
  };
}

/**
 * Checks a new password of a person who has accounts.
 * @throws FieldRefused about the field, when it is not accepted.
 */
export async function checkPasswordOf(
  deps: Pick<PeopleDependencies, 'db' | 'isBreached'>,
  { id, email, name }: Pick<Person, 'id' | 'email' | 'name'>,
  password: string,
  field: string,
): Promise<void> {
  const accounts = await listMemberships(deps.db, id);
  const names = [name, ...accounts.map(account => account.name)];
  await checkNewPassword(deps, password, field, { email, names });
}

/**
 * Checks a new password. Call it outside of a transaction, and before taking a turn (`password-queue.ts`): it
 * may ask another service.
 * @throws FieldRefused about the field, when it is not accepted.
 */
export async function checkNewPassword(
  { isBreached }: Pick<PeopleDependencies, 'isBreached'>,
  password: string,
  field: string,
  known: { email: string; names: readonly string[] },
): Promise<void> {
  const fault = findPasswordFault(password, known);
  if (fault !== undefined) throw new FieldRefused(field, ...fault);
  if (!(await isBreached(password))) return;
  throw new FieldRefused(field, 'password-breached');
}
