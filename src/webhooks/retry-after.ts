/** The longest that an endpoint can put an attempt off, in milliseconds: the longest delay there is. */
export const RETRY_AFTER_MAXIMUM_MS = 24 * 60 * 60 * 1000;
/** The date of RFC 9110 that servers have to send, e.g. `Sun, 06 Nov 1994 08:49:37 GMT`. */
const HTTP_DATE = /^[A-Z][a-z]{2}, \d{2} [A-Z][a-z]{2} \d{4} \d{2}:\d{2}:\d{2} GMT$/;

/**
 * How long a Retry-After header, in seconds or as a date, asks to wait: in milliseconds, at most a
 * day. 0 without one, and for what is neither.
 */
export function readRetryAfter(header: string | undefined, now: Date): number {
  const text = header?.trim() ?? '';
  const milliseconds = /^\d+$/.test(text)
    ? Number(text) * 1000
    : HTTP_DATE.test(text)
      ? Date.parse(text) - now.getTime()
      : 0;
  return Number.isNaN(milliseconds)
    ? 0
    : Math.min(Math.max(milliseconds, 0), RETRY_AFTER_MAXIMUM_MS);
}
