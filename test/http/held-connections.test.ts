import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import { type AddressInfo, connect, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, beforeEach, expect, test } from 'vitest';
import {
  createHeldConnections,
  type HeldConnections,
  LONGEST_HOLD_SECONDS,
} from '../../src/http/held-connections.ts';

/** Small enough that a few connections make the wait longer. */
const RETURNS_PER_SECOND = 2;
const MOST_HELD = 3 * RETURNS_PER_SECOND;
/** A hold begins and is noticed a little off, in milliseconds. */
const TOLERANCE_MS = 100;

let held: HeldConnections;
let server: Server;
let clients: Client[];

beforeEach(async () => {
  held = createHeldConnections({ returnsPerSecond: RETURNS_PER_SECOND, most: MOST_HELD });
  clients = [];
  // Refuses every request before its body has arrived, and tells the path that it was asked for.
  server = createServer((request, response) => {
    if (request.url === '/never') return;
    response.setHeader('retry-after', held.hold(response));
    response.end(request.url);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
});
afterEach(() => {
  for (const { socket } of clients) socket.destroy();
  server.close();
});

interface Client {
  readonly socket: Socket;
  ask(path: string, body?: { length: number; sent: string }): Promise<Answer>;
}
interface Answer {
  readonly path: string;
  readonly retryAfter: number;
  /** In milliseconds. */
  readonly took: number;
}

async function open(): Promise<Client> {
  const socket = connect((server.address() as AddressInfo).port, '127.0.0.1');
  await once(socket, 'connect');
  const client: Client = {
    socket,
    async ask(path, body = { length: 0, sent: '' }) {
      const from = performance.now();
      socket.write(
        `POST ${path} HTTP/1.1\r\nHost: x\r\nContent-Length: ${body.length}\r\n\r\n${body.sent}`,
      );
      const [answer] = await once(socket, 'data');
      const [head, text] = String(answer).split('\r\n\r\n');
      return {
        path: text ?? '',
        retryAfter: Number(/retry-after: (\d+)/i.exec(head ?? '')?.[1]),
        took: performance.now() - from,
      };
    },
  };
  clients.push(client);
  return client;
}

test('what comes back before its time is read when the time is over', async () => {
  const client = await open();
  expect(await client.ask('/first')).toMatchObject({ path: '/first', retryAfter: 1 });
  const second = await client.ask('/second');
  expect(second).toMatchObject({ path: '/second', retryAfter: 1 });
  expect(second.took).toBeGreaterThan(1_000 - TOLERANCE_MS);
});

test('the rest of a body that comes after the refusal is not taken for a request', async () => {
  const client = await open();
  await client.ask('/first', { length: 8, sent: 'half' });
  client.socket.write('rest');
  expect(await client.ask('/second')).toMatchObject({ path: '/second' });
});

test('one connection does not hold another up', async () => {
  const [one, other] = [await open(), await open()];
  await one.ask('/');
  expect((await other.ask('/')).took).toBeLessThan(1_000 - TOLERANCE_MS);
});

test('the more connections are held, the longer each is', async () => {
  const opened = await Promise.all(Array.from({ length: MOST_HELD }, open));
  const waits: number[] = [];
  for (const client of opened) waits.push((await client.ask('/')).retryAfter);
  expect(waits).toEqual([1, 1, 2, 2, 3, 3]);
});

test('no client is told to wait longer than the bound', async () => {
  held = createHeldConnections({ returnsPerSecond: 1 });
  const opened = await Promise.all(Array.from({ length: LONGEST_HOLD_SECONDS + 2 }, open));
  const waits: number[] = [];
  for (const client of opened) waits.push((await client.ask('/')).retryAfter);
  expect(waits.slice(-3)).toEqual(new Array(3).fill(LONGEST_HOLD_SECONDS));
});

test('above the most a connection is refused and not held', async () => {
  const opened = await Promise.all(Array.from({ length: MOST_HELD + 1 }, open));
  for (const client of opened) await client.ask('/');
  await sleep(50);
  expect((await opened.at(-1)?.ask('/'))?.took).toBeLessThan(1_000 - TOLERANCE_MS);
});

test('a connection that ends with its answer makes no other wait', async () => {
  for (let index = 0; index < 2 * RETURNS_PER_SECOND; index++) {
    const client = await open();
    client.socket.write('GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n');
    client.socket.resume();
    await once(client.socket, 'close');
  }
  expect((await (await open()).ask('/')).retryAfter).toBe(1);
});

test('requests sent together are all refused, and in order', async () => {
  const client = await open();
  let text = '';
  client.socket.on('data', chunk => {
    text += chunk;
  });
  const one = (path: string) => `GET ${path} HTTP/1.1\r\nHost: x\r\n\r\n`;
  client.socket.write(one('/first') + one('/second') + one('/third'));
  const answered = () => text.match(/\/(first|second|third)/g);
  await expect.poll(answered).toEqual(['/first', '/second', '/third']);
});

test('a client that goes away before its turn comes makes no other wait', async () => {
  for (let index = 0; index < 2 * RETURNS_PER_SECOND; index++) {
    const { socket } = await open();
    const asked = once(server, 'request');
    socket.write('GET /never HTTP/1.1\r\nHost: x\r\n\r\nGET / HTTP/1.1\r\nHost: x\r\n\r\n');
    const [{ socket: accepted }] = await asked;
    await sleep(20);
    socket.destroy();
    await once(accepted, 'close');
  }
  expect((await (await open()).ask('/')).retryAfter).toBe(1);
});

test('a client that goes away meanwhile is gone when the wait is over', async () => {
  const client = await open();
  await client.ask('/');
  await sleep(50);
  client.socket.destroy();
  await sleep(50);
  const connections = () =>
    new Promise<number>(resolve => server.getConnections((_error, count) => resolve(count)));
  expect(await connections()).toBe(1);
  await expect.poll(connections, { timeout: 3_000 }).toBe(0);
});

test('the connection that is held for longest goes on first', async () => {
  const [one, other] = [await open(), await open()];
  await one.ask('/');
  await other.ask('/');
  // Not before both holds have begun.
  await sleep(50);
  const answers = [one.ask('/one'), other.ask('/other')];
  await sleep(50);
  held.releaseOldest();
  const [first, second] = await Promise.all(answers);
  expect(first?.took).toBeLessThan(1_000 - TOLERANCE_MS);
  expect(second?.took).toBeGreaterThan(1_000 - TOLERANCE_MS);
});

test('to release where nothing is held does nothing', () => {
  expect(() => held.releaseOldest()).not.toThrow();
});
