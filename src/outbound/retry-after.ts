/** Maximum delay that an endpoint can request, in milliseconds: the longest one of the schedule. */
export const RETRY_AFTER_MAXIMUM_MS = 24 * 60 * 60 * 1000;
/** The preferred date format of RFC 9110, for example `Sun, 06 Nov 1994 08:49:37 GMT`. */
const HTTP_DATE = /^[A-Z][a-z]{2}, \d{2} [A-Z][a-z]{2} \d{4} \d{2}:\d{2}:\d{2} GMT$/;

/**
 * Parses a Retry-After header, in seconds or as a date.
 * @returns Milliseconds to wait, at most a day; 0 without a valid header.
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
