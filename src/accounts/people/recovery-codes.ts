import { createHash, randomBytes } from 'node:crypto';
import { base32 } from '@scure/base';
import type { Connection } from '#storage/database/connection.ts';
import { replaceRecoveryCodes, useRecoveryCode } from '#storage/repositories/people/people.ts';

/** How many a person has at first. */
export const RECOVERY_CODES = 8;
/** 120 bits, which make 24 characters of base32. */
const CODE_BYTES = 15;

/**
 * Makes recovery codes, which replace all earlier ones of the person. Each stands in for the authenticator app
 * once. Only hashes are stored, without a key: 120 bits cannot be guessed.
 * @returns The codes, in groups of four characters.
 */
export async function renewRecoveryCodes(tx: Connection, personId: string): Promise<string[]> {
  const codes = Array.from({ length: RECOVERY_CODES }, () =>
    base32.encode(randomBytes(CODE_BYTES)),
  );
  await replaceRecoveryCodes(
    tx,
    personId,
    codes.map(code => hashOf(personId, code)),
  );
  return codes.map(code => code.replaceAll(/(.{4})(?=.)/g, '$1-'));
}

/**
 * Uses a recovery code up.
 * @param text As it was typed, with or without hyphens and spaces, in any case.
 * @returns Whether it was an unused one of the person.
 */
export async function takeRecoveryCode(
  tx: Connection,
  personId: string,
  text: string,
  now: Date,
): Promise<boolean> {
  const code = text.replaceAll(/[\s-]/g, '').toUpperCase();
  return useRecoveryCode(tx, { personId, hash: hashOf(personId, code), now });
}

function hashOf(personId: string, code: string): Buffer {
  return createHash('sha256').update(`${personId} ${code}`).digest();
}
