import { hash } from 'node:crypto';
import { randomToken } from './random-hex.ts';

const TOKEN_BYTES = 32;
/** TOKEN_BYTES in base64url. */
export const TOKEN = /^[\w-]{43}$/;

/** The secret part of a link or a cookie: 32 random bytes in base64url. */
export function newToken(): string {
  return randomToken(TOKEN_BYTES);
}

export function isToken(text: string): boolean {
  return TOKEN.test(text);
}

/** The stored form of a token (SHA-256): whoever reads the table cannot use the tokens. */
export function hashToken(token: string): Buffer {
  return hash('sha256', token, 'buffer');
}
