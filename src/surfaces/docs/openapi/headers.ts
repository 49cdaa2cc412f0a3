import type { Header, Reference } from './document.ts';

/** Every header that a response may have. */
export const HEADERS = {
  'X-Request-Id': {
    description:
      'ID of this request, a UUID. The body of a replayed failure has that of the request that failed.',
    required: true,
    schema: { type: 'string', format: 'uuid' },
  },
  'X-MP-Should-Retry': {
    description:
      'Whether another attempt with a fresh nonce, timestamp and signature may succeed. A replayed failure has `false`.',
    required: true,
    schema: { type: 'string', enum: ['true', 'false'] },
  },
  'Retry-After': {
    description:
      'Seconds to wait before the next attempt. Sent with E9001, E4003 and, during an overload, E5002.',
    schema: { type: 'integer', minimum: 1 },
  },
  'RateLimit-Policy': {
    description:
      'The limit that the request exceeded (draft-ietf-httpapi-ratelimit-headers-10): what is counted, requests, seconds. Sent with E9001.',
    schema: { type: 'string' },
  },
  RateLimit: {
    description:
      'What is left of that limit, which is nothing, and the seconds until its window ends. Sent with E9001.',
    schema: { type: 'string' },
  },
  'Idempotent-Replayed': {
    description: '`true` if this is the stored response to an earlier request with the same key.',
    schema: { type: 'string', const: 'true' },
  },
  Deprecation: {
    description:
      'Since when the older contract is deprecated (RFC 9745); absent where no date is set.',
    schema: { type: 'string' },
  },
  Link: {
    description: 'The v1 route that does the same, as `successor-version` (RFC 8288).',
    required: true,
    schema: { type: 'string' },
  },
  Sunset: {
    description: 'When the older contract ends (RFC 8594); absent until that is decided.',
    schema: { type: 'string' },
  },
  'WWW-Authenticate': {
    description: 'How to authenticate.',
    schema: { type: 'string' },
  },
} as const satisfies Record<string, Header>;

type HeaderName = keyof typeof HEADERS;

export function headerReferences(names: readonly HeaderName[]): Record<string, Reference> {
  return Object.fromEntries(names.map(name => [name, { $ref: `#/components/headers/${name}` }]));
}
