import { Buffer } from 'node:buffer';
import { randomUUID } from 'node:crypto';
import { signRequest } from '#signing/canonical.ts';

/** An API key, as shown at its creation. */
export interface Credentials {
  readonly keyId: string;
  readonly secret: string;
  readonly passphrase: string;
}

export interface RequestToSign {
  /** Upper-case HTTP method. */
  readonly method: string;
  /** Path with its query, exactly as sent. */
  readonly path: string;
  /** Exactly the bytes that are sent. Default: no body. */
  readonly body?: Uint8Array | string | undefined;
  /** Milliseconds since the epoch. */
  readonly now: number;
  /** New for every request, retries included. Default: a random UUID. */
  readonly nonce?: string | undefined;
}

/** The five signing headers of a request. */
export function signingHeaders(
  { keyId, secret, passphrase }: Credentials,
  { method, path, body = '', now, nonce = randomUUID() }: RequestToSign,
): Record<string, string> {
  const timestamp = String(Math.floor(now / 1000));
  const bytes = typeof body === 'string' ? Buffer.from(body) : body;
  const signature = signRequest(secret, { timestamp, nonce, method, path, body: bytes });
  return {
    'x-mp-key-id': keyId,
    'x-mp-passphrase': passphrase,
    'x-mp-timestamp': timestamp,
    'x-mp-nonce': nonce,
    'x-mp-signature': signature.toString('hex'),
  };
}
