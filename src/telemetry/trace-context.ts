import { randomBytes } from 'node:crypto';
import { createTraceState } from '@opentelemetry/api';
import { maskSecrets } from '#crypto/mask-secrets.ts';

/** The trace that a request belongs to, which is passed on with everything that it causes. */
export interface TraceContext {
  /** 32 lowercase hex digits. */
  readonly traceId: string;
  /** `traceparent` of W3C Trace Context, with an ID of this request's own as the parent. */
  readonly traceparent: string;
  /** `tracestate` as it was received; null if it is missing or invalid. */
  readonly tracestate: string | null;
}

/** Version 00 only; the fields of later versions may mean something else. */
const TRACEPARENT = /^00-(?!0{32})([0-9a-f]{32})-(?!0{16})[0-9a-f]{16}-([0-9a-f]{2})$/;
/** The known flags: sampled, and random trace ID. The others must be sent as zero. */
const KNOWN_FLAGS = 0x03;

/**
 * Reads the headers of a request. They are not signed, so anything but exactly the standard's form is
 * ignored.
 */
export function readTraceContext(
  traceparent: unknown,
  tracestate: string | string[] | undefined,
): TraceContext | null {
  if (typeof traceparent !== 'string') return null;
  const [, traceId, flags = '00'] = TRACEPARENT.exec(traceparent) ?? [];
  if (traceId === undefined) return null;
  const known = Number.parseInt(flags, 16) & KNOWN_FLAGS;
  return traceContext(traceId, randomBytes(8).toString('hex'), known, tracestate);
}

/**
 * @param spanId 16 hex digits that identify the request.
 * @param flags An octet.
 */
export function traceContext(
  traceId: string,
  spanId: string,
  flags: number,
  tracestate: string | string[] | undefined,
): TraceContext {
  return {
    traceId,
    traceparent: `00-${traceId}-${spanId}-${flags.toString(16).padStart(2, '0')}`,
    tracestate: typeof tracestate === 'string' && isTraceState(tracestate) ? tracestate : null,
  };
}

/** The headers that pass a trace on; none without a trace. */
export function traceHeaders(
  trace: { traceparent: string | null; tracestate: string | null } | null,
): Record<string, string> {
  const { traceparent = null, tracestate = null } = trace ?? {};
  if (traceparent === null) return {};
  return tracestate === null ? { traceparent } : { traceparent, tracestate };
}

/** The trace ID in a `traceparent` of our own. */
export function traceIdOf(traceparent: string | null): string | null {
  return traceparent?.split('-')[1] ?? null;
}

/**
 * Whether the library keeps every member: it drops invalid, repeated and overlong ones. False as well for
 * text with one of our secrets, since it is stored and sent on.
 */
function isTraceState(text: string): boolean {
  const members = text.split(',').map(member => member.trim());
  const named = members.filter(member => member !== '').join(',');
  return (
    named !== '' && createTraceState(text).serialize() === named && maskSecrets(named) === named
  );
}
