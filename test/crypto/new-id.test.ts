import { afterEach, expect, test, vi } from 'vitest';
import { newId, timeOfId } from '#crypto/new-id.ts';

afterEach(() => void vi.useRealTimers());

const make = () => Array.from({ length: 1_000 }, newId);

test('IDs are UUIDv7 that begin with the time', () => {
  vi.useFakeTimers({ now: Date.now() + 1_000, toFake: ['Date'] });
  const time = Date.now().toString(16).padStart(12, '0');
  for (const id of make()) {
    expect(id).toMatch(/^[\da-f]{8}-[\da-f]{4}-7[\da-f]{3}-[89ab][\da-f]{3}-[\da-f]{12}$/);
    expect(id.replaceAll('-', '').slice(0, 12)).toBe(time);
  }
});

test('within a millisecond, and when the clock goes back, each is greater than the last', () => {
  vi.useFakeTimers({ now: Date.now() + 2_000, toFake: ['Date'] });
  const ids = make();
  vi.setSystemTime(Date.now() - 60_000);
  ids.push(...make());
  expect(ids).toEqual([...new Set(ids)].toSorted());
});

test('once a clock that was minutes ahead is corrected, IDs no longer have its time', () => {
  const now = Date.now() + 4_000;
  vi.useFakeTimers({ now: now + 60 * 24 * 60 * 60_000, toFake: ['Date'] });
  make();
  vi.setSystemTime(now);
  const ids = make();
  expect(new Set(ids.map(timeOfId))).toEqual(new Set([now]));
  expect(ids).toEqual([...new Set(ids)].toSorted());
});
