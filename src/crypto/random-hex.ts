import { randomBytes } from 'node:crypto';

/** `prefix` followed by `bytes` random bytes in lowercase hex. */
export function randomHex(prefix: string, bytes: number): string {
  return prefix + randomBytes(bytes).toString('hex');
}

/** `bytes` random bytes in base64url without padding. */
export function randomToken(bytes: number): string {
  return randomBytes(bytes).toString('base64url');
}
