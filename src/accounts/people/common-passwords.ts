import { hash } from 'node:crypto';
import { readFileSync } from 'node:fs';

const FILE = new URL('./common-passwords.txt', import.meta.url);
/** Characters kept of each hash: by chance, one of thirty thousand million passwords collides with the list. */
const HASH_LENGTH = 8;

const hashes = new Set(
  readFileSync(FILE, 'utf8')
    .split('\n')
    .filter(line => line.length === HASH_LENGTH),
);

/** How many passwords are listed: OWASP ASVS 5.0 asks for 3,000 (6.2.4). */
export const COMMON_PASSWORDS = hashes.size;

/**
 * Whether a password is one of the most common that are long enough.
 * @param plain In lower case, without separators.
 */
export function isCommonPassword(plain: string): boolean {
  return hashes.has(hash('sha256', plain, 'base64url').slice(0, HASH_LENGTH));
}
