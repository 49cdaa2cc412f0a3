import { afterAll, beforeAll, expect, test } from 'vitest';
import { PaymentsApiError } from '#client/index.ts';
import { clientOf, type ScriptedServer, startScriptedServer } from './scripted-server.ts';

let server: ScriptedServer;

beforeAll(async () => {
  server = await startScriptedServer();
});
afterAll(() => server.close());

const client = () => clientOf(server);

const page = (from: number, to: number, hasMore: boolean) => ({
  status: 200,
  body: {
    object: 'list',
    data: Array.from({ length: to - from }, (_, index) => ({ id: `p${from + index}` })),
    hasMore,
  },
});
const queries = () => server.received.map(({ path }) => path.split('?')[1]);

test('fetches a page only when its first payment is taken', async () => {
  server.script(page(0, 2, true), page(2, 4, true), page(4, 5, false));
  const payments = client().payments();
  expect(server.received).toHaveLength(0);
  const taken: string[] = [];
  for (const fetched of [1, 1, 2, 2, 3]) {
    const { value } = await payments.next();
    taken.push(value?.id);
    expect(server.received).toHaveLength(fetched);
  }
  expect((await payments.next()).done).toBe(true);
  expect(taken).toEqual(['p0', 'p1', 'p2', 'p3', 'p4']);
  expect(queries()).toEqual([
    'limit=100',
    'limit=100&startingAfter=p1',
    'limit=100&startingAfter=p3',
  ]);
});

test('stops fetching when the loop is left', async () => {
  server.script(page(0, 2, true), page(2, 4, true));
  for await (const payment of client().payments()) if (payment.id === 'p1') break;
  expect(server.received).toHaveLength(1);
});

test('keeps filters, page size and starting point', async () => {
  server.script(page(0, 1, true), page(1, 1, false));
  const query = { limit: 1, status: 'expired', startingAfter: 's' } as const;
  for await (const _ of client().payments(query));
  expect(queries()).toEqual([
    'limit=1&status=expired&startingAfter=s',
    'limit=1&status=expired&startingAfter=p0',
  ]);
});

test('ends on an empty page, even if that says that there is more', async () => {
  server.script(page(0, 0, true), page(0, 1, false));
  for await (const _ of client().payments()) throw new Error('there is none');
  expect(server.received).toHaveLength(1);
});

test('iterates over events, the oldest first, and fetches each page when it is needed', async () => {
  server.script(page(0, 2, true), page(2, 3, false));
  const query = { after: '2026-05-17T12:00:30Z', delivered: false } as const;
  const events = client().events(query);
  const taken: string[] = [];
  for (const fetched of [1, 1, 2]) {
    const { value } = await events.next();
    if (value !== undefined) taken.push(value.id);
    expect(server.received).toHaveLength(fetched);
  }
  expect((await events.next()).done).toBe(true);
  expect(taken).toEqual(['p0', 'p1', 'p2']);
  const first = 'delivered=false&limit=100&order=oldest&startDate=2026-05-17T11%3A59%3A30.000Z';
  expect(queries()).toEqual([first, `${first}&startingAfter=p1`]);
});

test('fails if a page fails', async () => {
  server.script(page(0, 1, true), { status: 500 });
  const payments = client().payments();
  await payments.next();
  await expect(payments.next()).rejects.toThrow(PaymentsApiError);
});
