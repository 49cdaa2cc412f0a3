import { type Argon2Parameters, argon2, randomBytes, timingSafeEqual } from 'node:crypto';
import { promisify } from 'node:util';
import type { Keyring } from '#crypto/keyring.ts';
import type { Person } from '#storage/database/people-tables.ts';

const derive = promisify(argon2);

const SALT_BYTES = 16;
const HASH_BYTES = 32;

/** Parameters of argon2id: memory in KiB, passes and lanes. */
export type PasswordWork = Pick<Argon2Parameters, 'memory' | 'passes' | 'parallelism'>;

/** Parameters by the number stored with a hash (OWASP ASVS 5.0, appendix C). */
const RECIPES: Readonly<Record<number, PasswordWork>> = {
  1: { memory: 47_104, passes: 1, parallelism: 1 },
};
const CURRENT_RECIPE = 1;

/** The columns of a person's password. */
type StoredPassword = Pick<
  Person,
  'password_hash' | 'password_salt' | 'password_recipe' | 'password_key_version'
>;

/** What passwords are hashed with. */
export interface PasswordHashing {
  readonly keyring: Keyring;
  /** Overrides the recipe of every hash, for tests that hash many passwords. */
  readonly passwordWork?: PasswordWork;
}

/**
 * Hashes a password for storage: argon2id over its keyed hash, so that a copy of the database allows no
 * guessing without the master key. It takes a core for about a tenth of a second: call it in a turn of
 * `password-queue.ts`, and never while holding a database connection.
 */
export async function hashPassword(
  { keyring, passwordWork }: PasswordHashing,
  personId: string,
  password: string,
): Promise<StoredPassword> {
  const salt = randomBytes(SALT_BYTES);
  const recipe = CURRENT_RECIPE;
  return {
    password_hash: await compute(keyring.hash(password, personId), salt, recipe, passwordWork),
    password_salt: salt,
    password_recipe: recipe,
    password_key_version: keyring.currentVersion,
  };
}

/**
 * Verifies a password; call it in a turn as well. Without a stored one it takes as long, and is never right.
 * @returns `isOld` if the password is right but should be hashed again, because the recipe or master key has changed.
 */
export async function verifyPassword(
  { keyring, passwordWork }: PasswordHashing,
  personId: string,
  stored: StoredPassword | undefined,
  password: string,
): Promise<{ readonly isRight: boolean; readonly isOld: boolean }> {
  const version = stored?.password_key_version ?? keyring.currentVersion;
  const recipe = stored?.password_recipe ?? CURRENT_RECIPE;
  const salt = stored?.password_salt ?? Buffer.alloc(SALT_BYTES);
  const message = keyring.hash(password, personId, version);
  const hash = await compute(message, salt, recipe, passwordWork);
  const expected = stored?.password_hash ?? Buffer.alloc(HASH_BYTES);
  const isRight = timingSafeEqual(hash, expected) && stored?.password_hash != null;
  const isOld = recipe !== CURRENT_RECIPE || version !== keyring.currentVersion;
  return { isRight, isOld: isRight && isOld };
}

/** Whether two rows of a person have the same password. */
export function isSamePassword(one: StoredPassword, other: StoredPassword): boolean {
  const { password_hash: hash } = one;
  if (hash === null || other.password_hash === null) return hash === other.password_hash;
  return hash.equals(other.password_hash);
}

function compute(
  message: Buffer,
  nonce: Buffer,
  recipe: number,
  work = RECIPES[recipe],
): Promise<Buffer> {
  if (work === undefined) throw new Error(`there is no password recipe ${recipe}`);
  return derive('argon2id', { message, nonce, tagLength: HASH_BYTES, ...work });
}
