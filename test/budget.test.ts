import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { judge, LONG } from './budget.ts';

const FILE = 'test/money.test.ts';
const timed = (name: string, seconds: number) => ({
  name: `${FILE} > ${name}`,
  milliseconds: seconds * 1000,
});
const REASONS = { [`${FILE} > waits`]: 'a limit of ten seconds' };

test('the ten slowest are reported, slowest first', () => {
  const tests = Array.from({ length: 12 }, (_, index) => timed(`test ${index}`, index / 10));
  const { lines, fails } = judge(tests, {});
  expect(lines.slice(0, 3)).toEqual([
    'The slowest tests:',
    `     1.1 s  ${FILE} > test 11`,
    `     1.0 s  ${FILE} > test 10`,
  ]);
  expect(lines).toHaveLength(12);
  expect(fails).toBe(false);
});

test('a test over the budget is named only without a reason', () => {
  const { lines } = judge(
    [timed('waits', 15), timed('dawdles', 3.1), timed('is quick', 3)],
    REASONS,
  );
  const named = lines.slice(lines.findIndex(line => line.startsWith('Over 3 s')));
  expect(named.slice(1, -1)).toEqual([`     3.1 s  ${FILE} > dawdles`]);
});

test('a whole run fails for a test that takes a hundredth of its time, however slow the machine is', () => {
  const fails = (dawdling: number, slowness: number) => {
    const others = Array.from({ length: 5_000 }, (_, index) => timed(`test ${index}`, 0.2));
    const tests = [timed('waits', 15), timed('dawdles', dawdling), ...others];
    return judge(
      tests.map(({ name, milliseconds }) => ({ name, milliseconds: milliseconds * slowness })),
      REASONS,
    ).fails;
  };
  for (const slowness of [1, 10]) {
    expect(fails(9.9, slowness)).toBe(false);
    expect(fails(11, slowness)).toBe(true);
  }
  // Of a single file any test may be most of the time.
  expect(judge([timed('dawdles', 100)], {}).fails).toBe(false);
});

test('a run fails for a reason without a test', () => {
  const { lines, fails } = judge([timed('is quick', 1)], REASONS);
  expect(fails).toBe(true);
  expect(lines.at(-2)).toBe(`  ${FILE} > waits`);
  // A run of other files does not report it.
  expect(judge([{ name: 'test/other.test.ts > it', milliseconds: 1 }], REASONS).fails).toBe(false);
});

test('a reason may cover all tests of a file, and its file exists', () => {
  const tests = [timed('waits', 15), timed('dawdles', 15)];
  const { lines, fails } = judge(tests, { [FILE]: 'real limits of time' });
  expect(fails).toBe(false);
  expect(lines.join()).not.toContain('Over 3 s');
  const files = Object.keys(LONG).map(name => name.split(' > ')[0] ?? '');
  const root = join(import.meta.dirname, '..');
  expect(files.filter(file => !existsSync(join(root, file)))).toEqual([]);
});
