import { argon2, randomBytes, timingSafeEqual } from 'node:crypto';
import { promisify } from 'node:util';
import type { Keyring } from '../crypto/keyring.ts';
import type { Person } from '../database/people-tables.ts';
import { ApiError } from '../errors/api-error.ts';

const derive = promisify(argon2);

const SALT_BYTES = 16;
const HASH_BYTES = 32;

/** By the number that is stored; the last is used for new passwords (OWASP ASVS 5.0, appendix C). */
const RECIPES = {
  1: { memory: 47_104, passes: 1, parallelism: 1 },
} as const;
const CURRENT_RECIPE = 1;

/** A hash takes 46 MiB and a core for about a tenth of a second. */
const AT_ONCE = 2;
const WAITING_MAXIMUM = 20;

/** The columns of a person's password. */
export type StoredPassword = Pick<
  Person,
  'password_hash' | 'password_salt' | 'password_recipe' | 'password_key_version'
>;

let running = 0;
const waiting: (() => void)[] = [];

/** @throws ApiError E5002 when too many wait already. */
async function inTurn<T>(work: () => Promise<T>): Promise<T> {
  if (running >= AT_ONCE) {
    if (waiting.length >= WAITING_MAXIMUM) {
      throw new ApiError('E5002', 'Too many people sign in at this moment.', {
        retryAfterSeconds: 2,
      });
    }
    await new Promise<void>(resolve => waiting.push(resolve));
  } else {
    running += 1;
  }
  try {
    return await work();
  } finally {
    const next = waiting.shift();
    // The place passes on to who waits, or is free again.
    if (next !== undefined) next();
    else running -= 1;
  }
}

/**
 * Hashes a password for storage: argon2id over its keyed hash, so that what a copy of the database holds
 * cannot be guessed at without the master key.
 * @throws ApiError E5002 when too many hashes are being computed.
 */
export async function hashPassword(
  keyring: Keyring,
  personId: string,
  password: string,
): Promise<StoredPassword> {
  const salt = randomBytes(SALT_BYTES);
  const recipe = CURRENT_RECIPE;
  return {
    password_hash: await compute(keyring.hash(password, personId), salt, recipe),
    password_salt: salt,
    password_recipe: recipe,
    password_key_version: keyring.currentVersion,
  };
}

/**
 * Compares a password. Without a stored one it takes as long, and is false.
 * @returns `isOld` when the password is right and should be hashed anew: recipe or master key have changed.
 * @throws ApiError E5002 when too many hashes are being computed.
 */
export async function verifyPassword(
  keyring: Keyring,
  personId: string,
  stored: StoredPassword | undefined,
  password: string,
): Promise<{ readonly isRight: boolean; readonly isOld: boolean }> {
  const version = stored?.password_key_version ?? keyring.currentVersion;
  const recipe = stored?.password_recipe ?? CURRENT_RECIPE;
  const salt = stored?.password_salt ?? Buffer.alloc(SALT_BYTES);
  const hash = await compute(keyring.hash(password, personId, version), salt, recipe);
  const expected = stored?.password_hash ?? Buffer.alloc(HASH_BYTES);
  const isRight = timingSafeEqual(hash, expected) && stored?.password_hash != null;
  const isOld = recipe !== CURRENT_RECIPE || version !== keyring.currentVersion;
  return { isRight, isOld: isRight && isOld };
}

function compute(message: Buffer, nonce: Buffer, recipe: number): Promise<Buffer> {
  const parameters = RECIPES[recipe as keyof typeof RECIPES];
  if (parameters === undefined) throw new Error(`there is no password recipe ${recipe}`);
  return inTurn(() => derive('argon2id', { message, nonce, tagLength: HASH_BYTES, ...parameters }));
}
