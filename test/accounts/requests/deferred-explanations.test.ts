import { expect, test } from 'vitest';
import { DeferredExplanations, KEY_PAUSE_MS } from '#accounts/requests/deferred-explanations.ts';
import type { Explanation } from '#signing/explain-mismatch.ts';
import { CpuBudget } from '#time/cpu-budget.ts';

/** Explanations that each take some milliseconds of CPU. */
function start(milliseconds: number) {
  const clock = { now: 0 };
  let taken = 0;
  const budget = new CpuBudget(
    () => clock.now,
    () => {
      taken += milliseconds;
      return taken;
    },
  );
  const explanations = new DeferredExplanations(
    () => clock.now,
    budget,
    error => expect.unreachable(String(error)),
  );
  const parts = { timestamp: '1', nonce: 'n', method: 'GET', path: '/', body: Buffer.alloc(0) };
  const mismatch = { secret: 'secret', parts, signature: '0'.repeat(64), hints: () => ({}) };
  const explain = (keyId: string) =>
    new Promise<Explanation | null>(resolve => explanations.explain(keyId, mismatch, resolve));
  return { clock, budget, explain };
}

test('a key has one in ten seconds, and one is in progress at a time', async () => {
  const { clock, explain } = start(1);
  const first = explain('one');
  expect(await explain('two')).toBeNull();
  expect(await first).not.toBeNull();
  expect(await explain('one')).toBeNull();
  expect(await explain('two')).not.toBeNull();
  clock.now += KEY_PAUSE_MS;
  expect(await explain('one')).not.toBeNull();
});

test('they leave half of the CPU time for explanations to people who have signed in', async () => {
  const { clock, budget, explain } = start(130);
  expect(await explain('one')).not.toBeNull();
  expect(await explain('two')).not.toBeNull();
  expect(await explain('three')).toBeNull();
  expect(budget.has(true)).toBe(true);
  clock.now += 1_000;
  expect(await explain('three')).not.toBeNull();
});
