import type { LightMyRequestResponse } from 'fastify';
import { type Credentials, signingHeaders } from '#client/index.ts';
import type { TestApp } from './app.ts';

export interface SignedRequest {
  readonly method?: 'GET' | 'POST';
  readonly path: string;
  /** Text and bytes are sent unchanged, anything else as JSON. */
  readonly body?: unknown;
  /** Override or add headers after signing; undefined removes one. */
  readonly headers?: Record<string, string | undefined>;
  readonly nonce?: string;
  /** Milliseconds since the epoch; by default the application's time. */
  readonly now?: number;
}

/** Sends a request signed as the client signs it. */
export function send(
  { app, clock }: TestApp,
  credentials: Credentials,
  request: SignedRequest,
): Promise<LightMyRequestResponse> {
  const { method = request.body === undefined ? 'GET' : 'POST', path, nonce } = request;
  const body = toBytes(request.body);
  const headers: Record<string, string | undefined> = {
    ...signingHeaders(credentials, { method, path, body, now: request.now ?? clock(), nonce }),
    ...(body === undefined ? {} : { 'content-type': 'application/json' }),
    ...request.headers,
  };
  for (const name of Object.keys(headers)) if (headers[name] === undefined) delete headers[name];
  return app.inject({
    method,
    url: path,
    headers: headers as Record<string, string>,
    ...(body === undefined ? {} : { payload: body }),
  });
}

function toBytes(body: unknown): Buffer | undefined {
  if (body === undefined) return undefined;
  if (Buffer.isBuffer(body)) return body;
  return Buffer.from(typeof body === 'string' ? body : JSON.stringify(body));
}
