import { ApiError } from '#errors/api-error.ts';
import { TIMESTAMP_WINDOW_SECONDS } from './canonical.ts';

/** Longest nonce, in characters. */
export const NONCE_MAXIMUM = 255;
const NONCE_FORM = new RegExp(`^[\\x21-\\x7e]{1,${NONCE_MAXIMUM}}$`);
const INTEGER_FORM = /^-?\d{1,15}$/;
/** From here on, a number is more likely a time in milliseconds than in seconds. */
const MILLISECONDS_FROM = 100_000_000_000;

/** @throws ApiError E2001 for a malformed nonce. */
export function checkNonce(text: string): void {
  if (NONCE_FORM.test(text)) return;
  throw new ApiError('E2001', 'X-MP-NONCE must be 1 to 255 visible ASCII characters.');
}

/**
 * @param nowMs The server's time in milliseconds.
 * @throws ApiError E2002 when the text is no integer, E2003 when it is outside the window.
 */
export function checkTimestamp(text: string, nowMs: number): void {
  if (!INTEGER_FORM.test(text)) {
    throw new ApiError('E2002', 'X-MP-TIMESTAMP must be the Unix time in whole seconds.');
  }
  const timestamp = Number(text);
  const now = Math.floor(nowMs / 1000);
  const difference = timestamp - now;
  if (Math.abs(difference) <= TIMESTAMP_WINDOW_SECONDS) return;
  const hint = timestamp >= MILLISECONDS_FROM ? ' It looks like milliseconds; send seconds.' : '';
  const where = difference > 0 ? 'ahead of' : 'behind';
  throw new ApiError(
    'E2003',
    `X-MP-TIMESTAMP ${timestamp} is ${Math.abs(difference)} seconds ${where} the server's time ${now}; at most ${TIMESTAMP_WINDOW_SECONDS} are allowed.${hint}`,
  );
}
