import type { WebhookAttempt } from '#storage/database/webhook-tables.ts';

/**
 * What went wrong with an attempt, judged by its status or error. The errors are those of Node's TLS, sockets and
 * resolver, and our own.
 */
export type AttemptProblem =
  | (typeof ERRORS)[number][0]
  | 'redirect'
  | 'not-authorized'
  | 'not-found'
  | 'gone'
  | 'too-large'
  | 'busy'
  | 'refused'
  | 'broken'
  | 'other';

/** Problems by patterns of error messages; the first match counts. */
const ERRORS = [
  ['private-address', /is not at a public address/],
  ['plain-http', /the URL is not https/],
  ['secret', /signing secret cannot be opened/],
  ['timeout', /no answer within|Connect Timeout|ETIMEDOUT/i],
  ['certificate-expired', /certificate has expired|certificate is not yet valid/i],
  ['certificate-name', /certificate's altnames/],
  ['certificate-unknown', /self[- ]signed certificate|unable to (verify|get) /i],
  ['tls', /\bssl|\btls\b|EPROTO|secure TLS|wrong version number/i],
  ['no-name', /ENOTFOUND|ENODATA/],
  ['name-server', /query\w* E\w+/],
  ['closed-port', /ECONNREFUSED/],
  ['unreachable', /EHOSTUNREACH|ENETUNREACH|EHOSTDOWN/],
  ['hung-up', /ECONNRESET|EPIPE|other side closed|socket hang up/],
  ['not-http', /Parse Error|Expected HTTP|HPE_/i],
] as const satisfies readonly (readonly [string, RegExp])[];

/** What is wrong with an attempt; null for one that succeeded. */
export function problemOf({
  status_code: status,
  error,
}: Pick<WebhookAttempt, 'status_code' | 'error'>): AttemptProblem | null {
  if (status === null) {
    return ERRORS.find(([, pattern]) => pattern.test(error ?? ''))?.[0] ?? 'other';
  }
  if (status >= 200 && status <= 299) return null;
  if (status >= 300 && status <= 399) return 'redirect';
  if (status >= 500) return 'broken';
  switch (status) {
    case 401:
    case 403:
      return 'not-authorized';
    case 404:
    case 405:
      return 'not-found';
    case 410:
      return 'gone';
    case 413:
      return 'too-large';
    case 429:
      return 'busy';
    default:
      return 'refused';
  }
}
