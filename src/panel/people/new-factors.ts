import type { Keyring } from '../../crypto/keyring.ts';
import { findCodeStep, isCodeSecret } from './codes.ts';
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
export interface StoredApp {
  readonly code_secret: Buffer;
  readonly code_key_version: number;
  readonly code_last_step: number;
}

/**
 * Seals the secret of a new app, whose code is used up.
 * @throws FieldRefused about the field of the code, with `reason`, when the app shows another code.
 */
export function sealApp(
  keyring: Keyring,
  personId: string,
  { secret, code }: NewApp,
  { now, field, reason }: { now: number; field: string; reason: string },
): StoredApp {
  const step = isCodeSecret(secret) ? findCodeStep(secret, code, now) : undefined;
  if (step === undefined) throw new FieldRefused(field, reason);
  return {
    code_secret: keyring.seal(secret, personId),
    code_key_version: keyring.currentVersion,
    code_last_step: step,
  };
}

/** @throws FieldRefused about the field, when the password is not accepted. */
export function checkNewPassword(
  password: string,
  field: string,
  { email, names }: { email: string; names: readonly string[] },
): void {
  const fault = findPasswordFault(password, { email, names });
  if (fault !== undefined) throw new FieldRefused(field, fault);
}
