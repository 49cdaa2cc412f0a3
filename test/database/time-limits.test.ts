import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import {
  CONNECT_TIMEOUT_MS,
  NONCE_TIMEOUT_MS,
  STATEMENT_TIMEOUT_MS,
  WORK_TIMEOUT_MS,
} from '../../src/database/time-limits.ts';

/** Longest that a request may take, in milliseconds. */
const REQUEST_MS = 10_000;

test('all that a request waits for fits into ten seconds, with a second for itself', () => {
  expect(NONCE_TIMEOUT_MS + WORK_TIMEOUT_MS).toBeLessThanOrEqual(REQUEST_MS - 1_000);
});

test('the guide to PgBouncer has the same limits', () => {
  const guide = readFileSync(
    new URL('../../src/docs/guides/operating/pgbouncer.md', import.meta.url),
    'utf8',
  );
  expect(guide).toContain(`\nquery_wait_timeout = ${Math.floor(CONNECT_TIMEOUT_MS / 1000)}\n`);
  expect(guide).toContain(`set statement_timeout = '${STATEMENT_TIMEOUT_MS / 1000}s';`);
});
