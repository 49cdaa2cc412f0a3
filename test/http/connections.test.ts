import { once } from 'node:events';
import { type AddressInfo, connect, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import Fastify, { type FastifyInstance } from 'fastify';
import { expect, onTestFinished, test } from 'vitest';
import { Connections, PATIENCE } from '#http/connections.ts';
import { registerGracefulClose } from '#http/graceful-close.ts';
import { SERVER_LIMITS, type ServerLimits, serverOptions } from '#http/server-options.ts';

const HOST = '127.0.0.1';
const GET = 'GET / HTTP/1.1\r\nHost: a\r\n\r\n';
/** More bytes than the kernel buffers for a response that is not read. */
const LARGE = 'x'.repeat(20_000_000);
const STALL_MS = 600;

async function listen(limits: Partial<ServerLimits> = {}) {
  const app = Fastify(serverOptions({ ...SERVER_LIMITS, ...limits }));
  registerGracefulClose(app, new Connections({ ...PATIENCE, stallMs: STALL_MS, stallCheckMs: 50 }));
  onTestFinished(() => app.close());
  app.get('/', async () => LARGE);
  app.get('/small', async () => 'answered');
  app.get('/slow', () => sleep(2 * STALL_MS, 'answered'));
  await app.listen({ host: HOST, port: 0 });
  return { app, port: (app.server.address() as AddressInfo).port };
}

/** Connects, and does not read until the test resumes it. */
function dial(port: number): Socket {
  const socket = connect(port, HOST).pause();
  socket.on('error', () => undefined);
  onTestFinished(() => void socket.destroy());
  return socket;
}

const connections = ({ server }: FastifyInstance) =>
  new Promise<number>(resolve => server.getConnections((_error, count) => resolve(count)));

test('a client that does not read loses its connection once nothing has moved for long enough', async () => {
  const { app, port } = await listen();
  const socket = dial(port);
  const began = performance.now();
  socket.write(GET.repeat(3));
  await once(app.server, 'request');
  await expect.poll(() => connections(app)).toBe(0);
  expect(performance.now() - began).toBeGreaterThan(STALL_MS);
});

test('so does one that continues to send', async () => {
  const { app, port } = await listen();
  const socket = dial(port);
  const began = performance.now();
  socket.write(`${GET}GET / HTTP/1.1\r\nX: `);
  await once(app.server, 'request');
  const sending = setInterval(() => socket.write('x'), 20);
  onTestFinished(() => clearInterval(sending));
  await expect.poll(() => connections(app)).toBe(0);
  expect(performance.now() - began).toBeGreaterThan(STALL_MS);
});

test('a client that reads slowly receives everything, however long it takes', async () => {
  const { port } = await listen();
  const socket = dial(port);
  const began = performance.now();
  let received = 0;
  let pauseAt = 0;
  socket.on('data', ({ length }) => {
    received += length;
    if (received > pauseAt) socket.pause();
  });
  socket.pause();
  socket.write(GET);
  for (; received < LARGE.length && !socket.destroyed; pauseAt = received + 2_000_000) {
    await sleep(STALL_MS / 3);
    socket.resume();
    await expect.poll(() => received > Math.min(pauseAt, LARGE.length)).toBe(true);
  }
  expect(received).toBeGreaterThan(LARGE.length);
  expect(performance.now() - began).toBeGreaterThan(1.5 * STALL_MS);
});

test('neither an idle connection nor one that waits for its response counts as stalled', async () => {
  const { app, port } = await listen();
  const [idle, waiting] = [dial(port), dial(port)];
  idle.write(GET.replace('/', '/small'));
  waiting.write(GET.replace('/', '/slow'));
  await sleep(1.5 * STALL_MS);
  expect(await connections(app)).toBe(2);
  waiting.resume();
  const [answer] = await once(waiting, 'data');
  expect(String(answer)).toContain('answered');
});

/** So far apart that a busy machine cannot confuse them. */
const HEAD_LIMITS = { headersMs: 300, requestMs: 60_000, checkMs: 50 };
const BODY_LIMITS = { headersMs: 300, requestMs: 600, checkMs: 50 };

test.each([
  ['nothing', '', HEAD_LIMITS, HEAD_LIMITS.headersMs],
  ['a part of a head', GET.slice(0, -4), HEAD_LIMITS, HEAD_LIMITS.headersMs],
  [
    'a part of a body',
    'POST /small HTTP/1.1\r\nHost: a\r\nContent-Length: 9\r\n\r\n1',
    BODY_LIMITS,
    BODY_LIMITS.requestMs,
  ],
])('a client that has sent %s is cut off in time', async (_name, bytes, limits, after) => {
  const { app, port } = await listen(limits);
  const began = performance.now();
  const socket = dial(port).resume();
  socket.write(bytes);
  await once(app.server, 'connection');
  await once(socket, 'close');
  expect(performance.now() - began).toBeGreaterThan(after - 10);
});

test('a connection beyond the limit is closed at once, and the others are served', async () => {
  const { app, port } = await listen({ connections: 2 });
  const first = [dial(port), dial(port)];
  await expect.poll(() => connections(app)).toBe(2);
  await once(dial(port).resume(), 'close');
  for (const socket of first) {
    socket.write(GET.replace('/', '/small'));
    const [answer] = await once(socket.resume(), 'data');
    expect(String(answer)).toContain('answered');
  }
});
