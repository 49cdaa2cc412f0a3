import { takeRandomBytes } from './random-bytes.ts';

/** `prefix` followed by `bytes` random bytes in lowercase hex. */
export function randomHex(prefix: string, bytes: number): string {
  return prefix + takeRandomBytes(bytes).toString('hex');
}

/** `bytes` random bytes in base64url without padding. */
export function randomToken(bytes: number): string {
  return takeRandomBytes(bytes).toString('base64url');
}
