import { expect, test } from 'vitest';
import { NONCE_TIMEOUT_MS, WORK_TIMEOUT_MS } from '#storage/database/time-limits.ts';

/** Longest that a request may take, in milliseconds. */
const REQUEST_MS = 10_000;

test('the timeouts within a request add up to at most ten seconds, with a second to spare', () => {
  expect(NONCE_TIMEOUT_MS + WORK_TIMEOUT_MS).toBeLessThanOrEqual(REQUEST_MS - 1_000);
});
