import { DEPRECATED_SINCE } from '../../routes/legacy/deprecation.ts';
import type { Header, Reference } from './document.ts';

/** Every header that an answer may carry. */
export const HEADERS = {
  'X-Request-Id': {
    description: 'ID of the request, a UUID; quote it when you ask.',
    required: true,
    schema: { type: 'string', format: 'uuid' },
  },
  'X-MP-Should-Retry': {
    description:
      'Whether another attempt, signed afresh with a new nonce and timestamp, may succeed. A replayed failure says `false`.',
    required: true,
    schema: { type: 'string', enum: ['true', 'false'] },
  },
  'Retry-After': {
    description:
      'Seconds to wait before the next attempt; with E9001, E4003, and E5002 of an overload.',
    schema: { type: 'integer', minimum: 1 },
  },
  'Idempotent-Replayed': {
    description: '`true` when this is the stored answer to an earlier request with the same key.',
    schema: { type: 'string', const: 'true' },
  },
  Deprecation: {
    description: `Since when the older contract is deprecated (RFC 9745): ${DEPRECATED_SINCE.toISOString().slice(0, 10)}.`,
    required: true,
    schema: { type: 'string' },
  },
  Link: {
    description: 'The v1 route that does the same, as `successor-version` (RFC 8288).',
    required: true,
    schema: { type: 'string' },
  },
  Sunset: {
    description: 'When the older contract ends (RFC 8594); absent while that is not decided.',
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
