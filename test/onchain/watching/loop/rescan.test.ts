import { expect, test } from 'vitest';
import { chainOf } from '#chains/chain-list.ts';
import type { Node } from '#chains/nodes/node.ts';
import { readTimes } from '#onchain/watching/loop/rescan.ts';
import type { Watcher } from '#onchain/watching/watcher.ts';
import { LATE_FOR_MS } from '#time/late-window.ts';

const chain = chainOf('eth');
const NOW = Date.parse('2026-11-29T12:00:00Z');
const FROM = 1_000;
const DAY_MS = 24 * 60 * 60_000;
const timeOf = (height: number) => NOW + (height - 2_000_000) * chain.blockMs;

/** The earliest and the latest time that the rescan of a range assumes, by a node that has some of its blocks. */
async function timesOf(to: number, has: readonly number[]) {
  const adapter = {
    readBlock: async (_node: Node, height: number) =>
      has.includes(height) ? { time: new Date(timeOf(height)) } : null,
  } as unknown as Watcher['adapter'];
  const watcher = { adapter, chain, clock: () => NOW };
  const times = await readTimes(watcher, {} as Node, { from: FROM, to });
  return {
    earliest: times.askedSince.getTime() + LATE_FOR_MS + chain.clockSkewMs,
    latest: times.madeBy?.getTime(),
  };
}

test.each([
  ['a block', FROM],
  ['an hour', FROM + 3_600_000 / chain.blockMs],
  ['ten days', FROM + (10 * DAY_MS) / chain.blockMs],
])('a rescan of %s knows its times if the node has one end of it', async (_, to) => {
  expect(await timesOf(to, [FROM, to])).toEqual({ earliest: timeOf(FROM), latest: timeOf(to) });
  const byLast = await timesOf(to, [to]);
  expect(byLast.earliest).toBeLessThanOrEqual(timeOf(FROM));
  const byFirst = await timesOf(to, [FROM]);
  expect(byFirst.latest).toBeGreaterThanOrEqual(timeOf(to));
});

test('a rescan by a node that has neither end counts all amounts', async () => {
  const times = await timesOf(FROM + 1, []);
  expect(times).toEqual({ earliest: 0, latest: undefined });
});
