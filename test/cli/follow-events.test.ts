import { expect, test } from 'vitest';
import { EventFollower } from '#cli/client/follow-events.ts';
import type { ListEventsQuery, RecordedEvent } from '#client/index.ts';

const PAGE = 100;
const START = Date.UTC(2030, 0, 1);

/** A service with `count` events, one a second, which fails when it is told to. */
function serve(count: number) {
  const events = Array.from({ length: count }, (_, index) => eventOf(index));
  const queries: ListEventsQuery[] = [];
  const service = { events, queries, fails: false, listEvents };
  async function listEvents(query: ListEventsQuery = {}) {
    queries.push(query);
    if (service.fails) throw new Error('refused');
    const { order, limit = 1, startDate = '', startingAfter } = query;
    const listed = order === 'oldest' ? events : events.toReversed();
    const begin = listed.findIndex(({ id }) => id === startingAfter) + 1;
    const rest = listed.slice(begin).filter(({ createdAt }) => createdAt >= startDate);
    return { object: 'list' as const, data: rest.slice(0, limit), hasMore: rest.length > limit };
  }
  return service;
}

function eventOf(index: number): RecordedEvent {
  const createdAt = new Date(START + index * 1_000).toISOString();
  return { id: String(index), createdAt, deliveries: [] } as unknown as RecordedEvent;
}

async function idsOf(events: AsyncIterable<RecordedEvent>): Promise<number[]> {
  const ids: number[] = [];
  for await (const { id } of events) ids.push(Number(id));
  return ids;
}

test('prints each event once, counts its requests, and looks a minute back', async () => {
  const service = serve(5);
  const follower = new EventFollower(service);
  await follower.begin();
  expect(await idsOf(follower.next())).toEqual([]);
  expect(follower.requests).toBe(1);
  service.events.push(...Array.from({ length: 2 * PAGE }, (_, index) => eventOf(5 + index)));
  expect(await idsOf(follower.next())).toHaveLength(2 * PAGE);
  expect(follower.requests).toBe(3);
  // Its transaction was committed late.
  const late = { ...eventOf(204 - 59), id: '1000' };
  service.events.splice(204 - 59, 0, late);
  expect(await idsOf(follower.next())).toEqual([1000]);
  expect(follower.requests).toBe(1);
});

test('continues after a failed request, without reading anything twice', async () => {
  const service = serve(0);
  const follower = new EventFollower(service);
  await follower.begin();
  service.events.push(...Array.from({ length: 250 }, (_, index) => eventOf(index)));
  const told: number[] = [];
  const read = async () => {
    for await (const { id } of follower.next()) {
      told.push(Number(id));
      service.fails = told.length === PAGE;
    }
  };
  await expect(read()).rejects.toThrow('refused');
  service.fails = false;
  service.queries.length = 0;
  await read();
  expect(told).toEqual(Array.from({ length: 250 }, (_, index) => index));
  expect(service.queries.map(({ startingAfter }) => startingAfter)).toEqual(['99', '199']);
});
