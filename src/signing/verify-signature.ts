import { timingSafeEqual } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';
import { ApiError } from '#errors/api-error.ts';
import { SIGNING_HEADERS, type SignedParts } from './canonical.ts';
import { checkNonce } from './check-headers.ts';
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

const SIGNATURE_FORM = /^[0-9a-f]{64}$/;

/**
 * Reads the signing headers. Node joins a repeated header with a comma, which none of them accepts.
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

/**
 * Compares a signature with the one that the key makes, in constant time over the decoded bytes.
 * @param explain Returns hints to explain a refusal with; called only then. The message names the mistake and
 * the parts that the server signed, never a secret. `false` explains nothing.
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
