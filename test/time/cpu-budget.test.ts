import { expect, test, vi } from 'vitest';
import { CpuBudget } from '#time/cpu-budget.ts';

function open() {
  const clock = { now: 0 };
  let taken = 0;
  const budget = new CpuBudget(
    () => clock.now,
    () => taken,
  );
  /** Works as much as permitted for some seconds; returns the milliseconds of work. */
  const work = (seconds: number, milliseconds: number, isUrgent: boolean) => {
    const before = taken;
    for (const end = clock.now + seconds * 1_000; clock.now < end; clock.now += 10) {
      if (!budget.has(isUrgent)) continue;
      budget.spend(() => {
        taken += milliseconds;
      });
    }
    return taken - before;
  };
  return { budget, clock, work };
}

test('however much is requested, work takes a twentieth of the CPU', () => {
  const { work } = open();
  expect(work(100, 68, true)).toBeLessThanOrEqual(500 + 100 * 50 + 68);
  expect(work(100, 68, true)).toBeGreaterThan(100 * 50 - 68);
});

test('less urgent work leaves half of that to the rest', () => {
  const { work, budget } = open();
  expect(work(10, 25, false)).toBeGreaterThan(250);
  expect(budget.has(false)).toBe(false);
  expect(budget.has(true)).toBe(true);
  expect(work(0.1, 25, true)).toBe(250);
});

test('a pause saves up no more than the burst, and a clock that goes back takes nothing', () => {
  const { clock, work, budget } = open();
  clock.now += 3_600_000;
  expect(work(0.01, 600, true)).toBe(600);
  expect(budget.has(true)).toBe(false);
  clock.now -= 3_600_000;
  expect(budget.has(true)).toBe(false);
  clock.now += 1_980;
  expect(budget.has(true)).toBe(false);
  clock.now += 20;
  expect(budget.has(true)).toBe(true);
});

test('work that fails counts as well, by the thread’s CPU time', () => {
  let user = 0;
  const usage = vi.spyOn(process, 'threadCpuUsage').mockImplementation(() => {
    user += 600_000;
    return { user, system: 0 };
  });
  const budget = new CpuBudget(() => 0);
  const fail = () => {
    throw new Error('broken');
  };
  expect(() => budget.spend(fail)).toThrow('broken');
  usage.mockRestore();
  expect(budget.has(true)).toBe(false);
});
