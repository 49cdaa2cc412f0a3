import { once } from 'node:events';
import { Agent, request } from 'node:http';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { text } from 'node:stream/consumers';
import { setImmediate as nextTurn } from 'node:timers/promises';
import Fastify, { type FastifyInstance } from 'fastify';
import { expect, onTestFinished, test } from 'vitest';
import { listen } from '../../src/runtime/listen.ts';

const HOST = '127.0.0.1';
/** So few that the kernel gives most of them some of the clients. */
const SOCKETS = 16;
const CLIENTS = 64;

/** Answers GET / with 'answered' when `answer` allows it. */
async function startApp(answer: () => Promise<void> = async () => undefined) {
  const app = Fastify({ forceCloseConnections: 'idle' });
  app.get('/', async () => {
    await answer();
    return 'answered';
  });
  onTestFinished(() => app.close());
  await listen(app, { host: HOST, port: 0, sockets: SOCKETS });
  return { app, port: (app.server.address() as AddressInfo).port };
}

/** Keeps answers back until they are let go. */
function createGate() {
  const waiting: (() => void)[] = [];
  return { waiting, wait: () => new Promise<void>(resolve => waiting.push(resolve)) };
}

function ask(port: number): Socket {
  const socket = connect(port, HOST);
  socket.write('GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n');
  return socket;
}

const isListening = (app: FastifyInstance) => app.server.listening;

test.runIf(process.platform === 'linux')(
  'a turn of the event loop takes up several connections (Linux only: elsewhere it is one)',
  async ({ signal }) => {
    const { app, port } = await startApp();
    let taken = 0;
    app.server.on('connection', () => {
      taken += 1;
    });
    const clients = Array.from({ length: CLIENTS }, () => ask(port));
    const answers = clients.map(client => text(client));
    const turns: number[] = [];
    while (taken < CLIENTS) {
      signal.throwIfAborted();
      const before = taken;
      await nextTurn();
      turns.push(taken - before);
    }
    expect(Math.max(...turns)).toBeGreaterThan(4);
    for (const answer of await Promise.all(answers)) {
      expect(answer).toMatch(/^HTTP\/1\.1 200 OK.*answered$/s);
    }
  },
);

test('refuses an address that another listens on, whether it shares it or not', async () => {
  const { port } = await startApp();
  await expect(listen(Fastify(), { host: HOST, port })).rejects.toThrow('EADDRINUSE');
  const other = createServer().listen(0, HOST);
  onTestFinished(() => void other.close());
  await once(other, 'listening');
  const taken = (other.address() as AddressInfo).port;
  await expect(listen(Fastify(), { host: HOST, port: taken })).rejects.toThrow('EADDRINUSE');
});

test('a name is listened on at one of its addresses', async () => {
  const app = Fastify();
  onTestFinished(() => app.close());
  await listen(app, { host: 'localhost', port: 0 });
  const { address, port } = app.server.address() as AddressInfo;
  const clients = Array.from({ length: CLIENTS }, () => connect(port, address));
  await Promise.all(clients.map(client => once(client, 'connect')));
  for (const client of clients) client.destroy();
});

test('what closes with the application waits for every connection', async ({ signal }) => {
  const { waiting, wait } = createGate();
  const { app, port } = await startApp(wait);
  let answered = 0;
  const answers = Array.from({ length: CLIENTS }, async () => {
    const answer = await text(ask(port));
    answered += 1;
    return answer;
  });
  while (waiting.length < CLIENTS) {
    signal.throwIfAborted();
    await nextTurn();
  }
  let closed = false;
  const closing = app.close().then(() => {
    closed = true;
  });
  await expect.poll(() => isListening(app)).toBe(false);
  for (let refused = 0; refused < CLIENTS; refused++) {
    await expect(once(connect(port, HOST), 'connect')).rejects.toThrow('ECONNREFUSED');
  }
  for (let left = CLIENTS; left > 0; left--) {
    expect(closed).toBe(false);
    waiting.shift()?.();
    await expect.poll(() => answered, { interval: 1 }).toBe(CLIENTS - left + 1);
  }
  await closing;
  for (const answer of await Promise.all(answers)) expect(answer).toMatch(/answered$/);
});

test('connections that clients keep do not hold the end up', async ({ signal }) => {
  const { waiting, wait } = createGate();
  const { app, port } = await startApp(wait);
  const agent = new Agent({ keepAlive: true, maxSockets: CLIENTS });
  onTestFinished(() => agent.destroy());
  const answers = Array.from({ length: CLIENTS }, async () => {
    const sent = request({ host: HOST, port, agent }).end();
    const [response] = await once(sent, 'response');
    return text(response);
  });
  while (waiting.length < CLIENTS) {
    signal.throwIfAborted();
    await nextTurn();
  }
  // Half are idle when the end comes, and half are busy.
  for (const answer of waiting.splice(CLIENTS / 2)) answer();
  await Promise.race(answers);
  const began = performance.now();
  const closing = app.close();
  await expect.poll(() => isListening(app)).toBe(false);
  for (const answer of waiting) answer();
  expect(await Promise.all(answers)).toEqual(new Array(CLIENTS).fill('answered'));
  await closing;
  // Without looking for idle ones again it takes as long as clients keep them: 5 s and more.
  expect(performance.now() - began).toBeLessThan(3_000);
});
