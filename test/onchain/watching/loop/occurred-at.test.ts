import { expect, test } from 'vitest';
import { chainOf } from '#chains/chain-list.ts';
import { occurredAt } from '#onchain/watching/loop/occurred-at.ts';

const MINUTE_MS = 60_000;
const NOW = new Date('2026-07-01T12:00:00Z');
const minutesAgo = (minutes: number) => new Date(NOW.getTime() - minutes * MINUTE_MS);
const LAST = { polled_at: minutesAgo(0.2), head_height: 100 };

test.each([
  ['just now', 0, 0, 1],
  ['a minute ago, by a clock that may be behind', 1, 0, 2],
  ['an hour ago', 60, 59, 61],
])('a transfer that entered the mempool %s', (_, entered, latest, earliest) => {
  for (const block of [null, { height: 101, hash: 'b', time: minutesAgo(1) }]) {
    const transfer = { block, enteredAt: minutesAgo(entered) };
    expect(occurredAt(chainOf('btc'), transfer, LAST, NOW)).toEqual({
      occurredAt: minutesAgo(latest),
      earliestAt: minutesAgo(earliest),
    });
  }
});

test('without such a time, a seen transfer was made now', () => {
  const happened = occurredAt(chainOf('btc'), { block: null }, LAST, NOW);
  expect(happened).toEqual({ occurredAt: NOW, earliestAt: NOW });
});

test.each([
  ['the newest one of the last poll had it before that', 100, 0.5, 0.4, 0.6],
  ['an earlier one was left out of that poll, or of several', 98, 3, 2.9, 3.1],
  ['a younger one of that height has replaced it since', 100, 0.05, 0, 0.15],
  ['a higher one was made now', 101, 0.5, 0, 0],
])('a transfer in a block: %s', (_, height, ago, latest, earliest) => {
  const chain = { ...chainOf('btc'), clockSkewMs: 0.1 * MINUTE_MS };
  const block = { height, hash: 'b', time: minutesAgo(ago) };
  expect(occurredAt(chain, { block }, LAST, NOW)).toEqual({
    occurredAt: minutesAgo(latest),
    earliestAt: minutesAgo(earliest),
  });
});

const LENIENT = chainOf('eth');

test.each([
  ['a minute', 1, NOW],
  ['more than a minute', 1.01, null],
  ['a day', 1_440, null],
])('a poll %s in the future', (_, minutes, lately) => {
  const last = { polled_at: minutesAgo(-minutes), head_height: 100 };
  const block = { height: 101, hash: 'b', time: minutesAgo(30) };
  expect(occurredAt(LENIENT, { block }, last, NOW)).toEqual({
    occurredAt: lately ?? new Date(block.time.getTime() + LENIENT.clockSkewMs),
    earliestAt: lately ?? new Date(block.time.getTime() - LENIENT.clockSkewMs),
  });
  for (const each of [{ ...block, height: 100 }, null]) {
    const { earliestAt } = occurredAt(LENIENT, { block: each }, last, NOW);
    expect(earliestAt.getTime()).toBeLessThanOrEqual(NOW.getTime());
  }
});
