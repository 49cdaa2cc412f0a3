import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { text } from 'node:stream/consumers';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { Worker } from 'node:worker_threads';
import Fastify, { type FastifyInstance } from 'fastify';
import { expect, onTestFinished, test } from 'vitest';
import { listen } from '../src/listen.ts';

const HOST = '127.0.0.1';

function portOf(app: FastifyInstance): number {
  return (app.server.address() as AddressInfo).port;
}

async function startApp(answer: () => Promise<string>) {
  const app = Fastify({ forceCloseConnections: 'idle' });
  app.get('/', answer);
  const listening = await listen(app, { host: HOST, port: 0 });
  onTestFinished(() => listening.close());
  return { app, listening, port: portOf(app) };
}

function ask(port: number): Socket {
  const socket = connect(port, HOST);
  socket.write('GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n');
  return socket;
}

test.runIf(process.platform === 'linux')(
  'takes up many connections in a turn of the event loop, and answers each (elsewhere than on Linux one)',
  async () => {
    const CLIENTS = 64;
    const { app, port } = await startApp(async () => 'answered');
    let taken = 0;
    app.server.on('connection', () => {
      taken += 1;
    });
    const done = new Int32Array(new SharedArrayBuffer(4));
    const clients = new Worker(
      `const { connect } = require('node:net');
       const { workerData: { port, count, done }, parentPort } = require('node:worker_threads');
       const answers = [];
       for (let i = 0; i < count; i++) {
         const socket = connect(port, '${HOST}');
         socket.setEncoding('utf8');
         socket.write('GET / HTTP/1.1\\r\\nHost: x\\r\\nConnection: close\\r\\n\\r\\n');
         let answer = '';
         socket.on('data', data => { answer += data; });
         socket.on('close', () => {
           answers.push(answer);
           if (answers.length === count) parentPort.postMessage(answers);
         });
         socket.once('connect', () => {
           if (Atomics.add(done, 0, 1) + 1 === count) Atomics.notify(done, 0);
         });
       }`,
      { eval: true, workerData: { port, count: CLIENTS, done } },
    );
    const answered = once(clients, 'message');
    // The kernel takes the connections, which wait for this thread.
    for (let seen = 0; seen < CLIENTS; seen = Atomics.load(done, 0)) {
      expect(Atomics.wait(done, 0, seen, 10_000)).not.toBe('timed-out');
    }
    const turns: number[] = [];
    while (taken < CLIENTS) {
      const before = taken;
      await nextTurn();
      turns.push(taken - before);
    }
    expect(Math.max(...turns)).toBeGreaterThan(4);
    const [answers] = await answered;
    for (const answer of answers) expect(answer).toMatch(/^HTTP\/1\.1 200 OK.*answered$/s);
  },
);

test('refuses an address that another listens on, sharing or not', async () => {
  const { port } = await startApp(async () => '');
  await expect(listen(Fastify(), { host: HOST, port })).rejects.toThrow('EADDRINUSE');
  const other = createServer().listen(0, HOST);
  onTestFinished(() => void other.close());
  await once(other, 'listening');
  const taken = (other.address() as AddressInfo).port;
  await expect(listen(Fastify(), { host: HOST, port: taken })).rejects.toThrow('EADDRINUSE');
});

test('closes only when every connection has its answer, and takes no more meanwhile', async () => {
  const CLIENTS = 32;
  const waiting: (() => void)[] = [];
  const { listening, port } = await startApp(
    () => new Promise(resolve => waiting.push(() => resolve('answered'))),
  );
  let answered = 0;
  const answers = Array.from({ length: CLIENTS }, async () => {
    const answer = await text(ask(port));
    answered += 1;
    return answer;
  });
  while (waiting.length < CLIENTS) await nextTurn();
  let closed = false;
  const closing = listening.close().then(() => {
    closed = true;
  });
  for (let refused = 0; refused < CLIENTS; refused++) {
    await expect(once(connect(port, HOST), 'connect')).rejects.toThrow('ECONNREFUSED');
  }
  const last = waiting.pop();
  for (const answer of waiting) answer();
  while (answered < CLIENTS - 1) await nextTurn();
  expect(closed).toBe(false);
  last?.();
  await closing;
  for (const answer of await Promise.all(answers)) expect(answer).toMatch(/answered$/);
});
