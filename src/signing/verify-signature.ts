import { timingSafeEqual } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';
import { ApiError } from '../errors/api-error.ts';
import { SIGNING_HEADERS, type SignedParts, TIMESTAMP_WINDOW_SECONDS } from './canonical.ts';
import { describeExpected, describeMismatch } from './describe-mismatch.ts';
import { explainMismatch } from './explain-mismatch.ts';
import type { MismatchHints } from './mistakes/mistake.ts';
import type { SigningKey } from './signing-key.ts';

export interface SigningHeaders {
  readonly keyId: string;
  readonly passphrase: string;
  readonly timestamp: string;
  readonly nonce: string;
  readonly signature: string;
}

/** Longest nonce, in characters. */
export const NONCE_MAXIMUM = 255;
const NONCE_FORM = new RegExp(`^[\\x21-\\x7e]{1,${NONCE_MAXIMUM}}$`);
const INTEGER_FORM = /^-?\d{1,15}$/;
const SIGNATURE_FORM = /^[0-9a-f]{64}$/;
/** From here on, a number is more likely a time in milliseconds than in seconds. */
const MILLISECONDS_FROM = 100_000_000_000;

/**
 * Reads the signing headers. Node joins a repeated header by a comma, which none of them accepts.
 * @throws ApiError E2001
 */
export function readSigningHeaders(headers: IncomingHttpHeaders): SigningHeaders {
  const values: string[] = [];
  for (const name of SIGNING_HEADERS) {
    const value = headers[name];
    if (typeof value !== 'string' || value === '') {
      throw new ApiError('E2001', `The header ${name.toUpperCase()} is missing.`);
    }
    values.push(value);
  }
  const [keyId = '', passphrase = '', timestamp = '', nonce = '', signature = ''] = values;
  checkNonce(nonce);
  return { keyId, passphrase, timestamp, nonce, signature };
}

/** @throws ApiError E2001 for a malformed nonce. */
export function checkNonce(text: string): void {
  if (NONCE_FORM.test(text)) return;
  throw new ApiError('E2001', 'X-MP-NONCE must be 1 to 255 visible ASCII characters.');
}

/**
 * @param nowMs The server's time in milliseconds.
 * @throws ApiError E2002 when the text is no integer, E2003 when it is outside the window.
 */
export function checkTimestamp(text: string, nowMs: number): void {
  if (!INTEGER_FORM.test(text)) {
    throw new ApiError('E2002', 'X-MP-TIMESTAMP must be the Unix time in whole seconds.');
  }
  const timestamp = Number(text);
  const now = Math.floor(nowMs / 1000);
  const difference = timestamp - now;
  if (Math.abs(difference) <= TIMESTAMP_WINDOW_SECONDS) return;
  const hint = timestamp >= MILLISECONDS_FROM ? ' It looks like milliseconds; send seconds.' : '';
  const where = difference > 0 ? 'ahead of' : 'behind';
  throw new ApiError(
    'E2003',
    `X-MP-TIMESTAMP ${timestamp} is ${Math.abs(difference)} seconds ${where} the server's time ${now}; at most ${TIMESTAMP_WINDOW_SECONDS} are allowed.${hint}`,
  );
}

/**
 * Compares a signature with the one that the key makes, in constant time over the decoded bytes.
 * @param explain What a refusal may be explained with, called only then: the message names the
 * mistake and the parts that the server signed, never a secret. Without it the message says nothing.
 * @throws ApiError E2007
 */
export function checkSignature(
  key: SigningKey,
  parts: SignedParts,
  signature: string,
  explain: false | (() => MismatchHints),
): void {
  const expected = key.sign(parts);
  const given = SIGNATURE_FORM.test(signature) ? Buffer.from(signature, 'hex') : null;
  if (given !== null && timingSafeEqual(given, expected)) return;
  if (explain === false) throw new ApiError('E2007');
  const explanation = explainMismatch(key.secret, parts, signature, explain());
  throw new ApiError('E2007', `${describeMismatch(explanation)} ${describeExpected(parts)}`);
}
