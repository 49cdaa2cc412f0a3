import { expect, test } from 'vitest';
import { NONCE_TIMEOUT_MS, WORK_TIMEOUT_MS } from '#storage/database/time-limits.ts';

/** Longest that a request may take, in milliseconds. */
const REQUEST_MS = 10_000;

test('all that a request waits for fits into ten seconds, with a second for itself', () => {
  expect(NONCE_TIMEOUT_MS + WORK_TIMEOUT_MS).toBeLessThanOrEqual(REQUEST_MS - 1_000);
});
