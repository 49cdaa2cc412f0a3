import { open } from 'node:fs/promises';
import { type Credentials, signingHeaders } from '#client/sign.ts';

/** A payment, a list, a creation, or a refusal for lack of a signature. */
export type ResponseKind = 'G' | 'L' | 'C' | 'R';

/** A request to sign, with the key that identifies its response. */
export interface RequestToSend {
  readonly method: 'GET' | 'POST';
  readonly path: string;
  readonly body?: string;
  readonly idempotencyKey?: string;
  /** null for a request that is not signed. */
  readonly credentials: Credentials | null;
  /** Key of the response, kind and UUID: see load.lua. */
  readonly response: `${ResponseKind}${string}`;
}

/** A request whose response is not checked. */
type Unchecked = Omit<RequestToSend, 'response'>;

/** The next request of an endless sequence. */
export type Traffic = () => RequestToSend;

interface Supply {
  readonly traffic: Traffic;
  readonly count: number;
  /** When the first and the last of them will be sent, in milliseconds since the epoch. */
  readonly from: number;
  readonly to: number;
}

const LENGTH_DIGITS = 5;
/** Size of a write, in characters. */
const CHUNK = 1_000_000;

/**
 * Writes signed requests for load.lua. Nonces are unique, and each timestamp is the time at which the
 * request will be sent, so that a load may last longer than the 300 seconds a signature is valid.
 */
export async function writeRequests(
  path: string,
  { traffic, count, from, to }: Supply,
): Promise<void> {
  await using file = await open(path, 'w');
  let chunk = '';
  for (let index = 0; index < count; index++) {
    const request = traffic();
    const bytes = renderSigned(request, from + ((to - from) * index) / count);
    chunk += `${String(bytes.length).padStart(LENGTH_DIGITS, '0')}${request.response}${bytes}`;
    if (chunk.length > CHUNK) {
      await file.write(chunk, null, 'latin1');
      chunk = '';
    }
  }
  await file.write(chunk, null, 'latin1');
}

/** All headers of a request but those of HTTP itself. */
export function signedHeaders(request: Unchecked, now: number): Record<string, string> {
  const { method, path, body, credentials, idempotencyKey } = request;
  const headers =
    credentials === null ? {} : signingHeaders(credentials, { method, path, body, now });
  if (body !== undefined) headers['content-type'] = 'application/json';
  if (idempotencyKey !== undefined) headers['idempotency-key'] = idempotencyKey;
  return headers;
}

/** A request as it is sent; everything in it is ASCII, so that characters are bytes. */
export function renderSigned(request: Unchecked, now: number): string {
  const { method, path, body } = request;
  const headers = signedHeaders(request, now);
  if (body !== undefined) headers['content-length'] = String(body.length);
  let text = `${method} ${path} HTTP/1.1\r\nhost: 127.0.0.1\r\n`;
  for (const name in headers) text += `${name}: ${headers[name]}\r\n`;
  return `${text}\r\n${body ?? ''}`;
}
