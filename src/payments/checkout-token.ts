import { createHash } from 'node:crypto';
import { randomToken } from '../crypto/random-hex.ts';

/** Path of the checkout pages; a token follows. */
export const CHECKOUT_PREFIX = '/checkout';

const TOKEN_BYTES = 32;
/** TOKEN_BYTES in base64url. */
const TOKEN = /^[\w-]{43}$/;

/** The secret part of a new checkout link. */
export function issueCheckoutToken(): string {
  return randomToken(TOKEN_BYTES);
}

export function isCheckoutToken(text: string): boolean {
  return TOKEN.test(text);
}

/** The stored form of a checkout token; reading the table does not let anyone open a checkout. */
export function hashCheckoutToken(token: string): Buffer {
  return createHash('sha256').update(token).digest();
}
