import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { within } from '#time/within.ts';

const late = () => new Error('late');

test('work that ends in time returns its result, or fails with its own error', async () => {
  expect(await within(1_000, Promise.resolve(1), late)).toBe(1);
  await expect(within(1_000, Promise.reject(new Error('own')), late)).rejects.toThrow('own');
});

// An unhandled rejection would fail the test.
test('work that takes longer is not waited for, however it ends', async () => {
  const failing = sleep(20).then(() => Promise.reject(new Error('own')));
  await expect(within(1, failing, late)).rejects.toThrow('late');
  await sleep(40);
});
