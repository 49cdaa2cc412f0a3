import { afterAll, beforeAll, expect, test } from 'vitest';
import { reportUnwatched } from '#runtime/unwatched-networks.ts';
import { cloneDatabase, type TestDatabase } from '../helpers/database.ts';
import { watchNetworks } from '../helpers/watch-networks.ts';

let database: TestDatabase;
beforeAll(async () => {
  database = await cloneDatabase();
});
afterAll(() => database.drop());

/** What a start logs: levels, networks and messages. */
async function report(simulation: boolean): Promise<unknown[]> {
  const lines: unknown[] = [];
  const note = (level: string) => (first: unknown, second?: unknown) =>
    void lines.push(second === undefined ? [level, first] : [level, first, second]);
  await reportUnwatched({ simulation }, database.db, {
    info: note('info'),
    warn: note('warn'),
  });
  return lines;
}

test('a start warns while no chain is watched, and names what is no longer offered', async () => {
  expect(await report(true)).toEqual([]);
  expect(await report(false)).toEqual([
    ['warn', expect.stringMatching(/^no network is offered, since no node watches a chain/)],
  ]);
  await watchNetworks(database.db, ['btc', 'eth', 'tron-usdc']);
  const [[level, { networks }, message]] = (await report(false)) as [[string, never, string]];
  expect(level).toBe('info');
  expect(networks).toHaveLength(23 - 2);
  expect(networks).not.toContain('btc');
  expect(message).toContain('no payment on them can settle, and they are not offered');
  await watchNetworks(database.db);
  expect(await report(false)).toEqual([]);
});
