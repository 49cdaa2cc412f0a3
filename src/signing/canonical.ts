import { createHmac } from 'node:crypto';

/** How far a timestamp may lie from the server's time either way, in seconds. */
export const TIMESTAMP_WINDOW_SECONDS = 300;

/** Names of the signing headers, in the order the specification lists them. */
export const SIGNING_HEADERS = [
  'x-mp-key-id',
  'x-mp-passphrase',
  'x-mp-timestamp',
  'x-mp-nonce',
  'x-mp-signature',
] as const;

/** The parts of a request that a signature covers, each exactly as it travels. */
export interface SignedParts {
  /** Unix time in seconds, as the header's text. */
  readonly timestamp: string;
  readonly nonce: string;
  /** Upper-case HTTP method. */
  readonly method: string;
  /** Request target with its query, e.g. `/external/v1/payments?limit=5`. */
  readonly path: string;
  /** Raw body bytes; empty without a body. */
  readonly body: Uint8Array;
}

/** Everything of the canonical request before the body: `timestamp\nnonce\nMETHOD\npath\n`. */
export function canonicalHead(parts: Omit<SignedParts, 'body'>): string {
  return `${parts.timestamp}\n${parts.nonce}\n${parts.method}\n${parts.path}\n`;
}

/**
 * Signs a request: HMAC-SHA256 over the canonical request, keyed with the whole secret as UTF-8.
 * @returns 32 bytes; X-MP-SIGNATURE carries them in lowercase hex.
 */
export function signRequest(secret: string, parts: SignedParts): Buffer {
  return createHmac('sha256', secret).update(canonicalHead(parts)).update(parts.body).digest();
}
