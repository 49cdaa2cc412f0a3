import type { ApiRequest } from '#client/index.ts';
import type { Answer } from './scripted-server.ts';

/** An error as the service sends it; without `retry` it comes from something else. */
export const failure = (status: number, retry?: boolean, seconds?: number | string): Answer => ({
  status,
  headers: {
    ...(retry === undefined ? {} : { 'x-mp-should-retry': String(retry) }),
    ...(seconds === undefined ? {} : { 'retry-after': String(seconds) }),
  },
  body: { error: { errorCode: `E${status}`, message: 'no' } },
});

const PATH = '/external/v1/payments/prompt';
export const READ = { method: 'GET', path: '/external/v1/payments' } as const;
export const KEYED = { method: 'POST', path: PATH, body: '{}', idempotencyKey: 'k' } as const;
export const BARE = { method: 'POST', path: PATH, body: '{}' } as const;

/** What clients retry after which response, in any language. */
export const RETRY_CASES: readonly (readonly [
  name: string,
  request: ApiRequest,
  answer: Answer,
  retried: boolean,
])[] = [
  // The service's advice is followed where nothing can execute twice.
  ['a read', READ, failure(503, true), true],
  ['a read', READ, failure(500, true), true],
  ['a keyed write', KEYED, failure(500, true), true],
  ['a keyed write', KEYED, failure(409, true), true],
  ['a keyed write', KEYED, failure(500, false), false],
  ['a keyed write', KEYED, failure(409, false), false],
  ['a read', READ, failure(401, false), false],
  // A refusal has executed nothing; a failure may have.
  ['a bare write', BARE, failure(429, true), true],
  ['a bare write', BARE, failure(401, true), true],
  ['a bare write', BARE, failure(500, true), false],
  ['a bare write', BARE, failure(503, true), false],
  // Without the header, the response does not come from the service.
  ['a read', READ, failure(502), true],
  ['a keyed write', KEYED, failure(504), true],
  ['a keyed write', KEYED, failure(503), true],
  ['a read', READ, failure(500), false],
  ['a read', READ, failure(404), false],
  ['a bare write', BARE, failure(502), false],
  ['a bare write', BARE, failure(429), false],
  // A success is not retried, even if the header says so.
  ['a read', READ, { status: 200, headers: { 'x-mp-should-retry': 'false' } }, false],
];
