import { once } from 'node:events';
import { Agent, request } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import { text } from 'node:stream/consumers';
import { setImmediate as nextTurn, setTimeout as sleep } from 'node:timers/promises';
import Fastify, { type FastifyInstance } from 'fastify';
import { expect, onTestFinished, test } from 'vitest';
import { Connections, PATIENCE } from '#http/connections.ts';
import { registerGracefulClose } from '#http/graceful-close.ts';
import { serverOptions } from '#http/server-options.ts';
import { converse } from '../helpers/raw-http.ts';

const HOST = '127.0.0.1';
const CLIENTS = 16;
const GET = 'GET / HTTP/1.1\r\nHost: a\r\n\r\n';
/** More bytes than the kernel buffers for a response that is not read. */
const LARGE = 'x'.repeat(20_000_000);

function buildApp(patience: Partial<typeof PATIENCE> = { closingMs: 1_000 }): FastifyInstance {
  const app = Fastify(serverOptions());
  registerGracefulClose(app, new Connections({ ...PATIENCE, ...patience }));
  onTestFinished(() => app.close());
  return app;
}

async function listen(app: FastifyInstance): Promise<number> {
  await app.listen({ host: HOST, port: 0 });
  return (app.server.address() as AddressInfo).port;
}

/** Closes the application; resolves with how long that took, in milliseconds. */
async function closing(app: FastifyInstance): Promise<number> {
  const began = performance.now();
  const closed = app.close().then(() => performance.now() - began);
  await expect.poll(() => app.server.listening).toBe(false);
  return closed;
}

test('a name with several addresses is served at one of them', async () => {
  const app = buildApp();
  await app.listen({ host: 'localhost', port: 0 });
  expect(app.addresses()).toHaveLength(1);
});

test('closing completes requests in flight and waits for no keep-alive connection', async ({
  signal,
}) => {
  const app = buildApp();
  const waiting: (() => void)[] = [];
  app.get('/', async () => {
    await new Promise<void>(resolve => waiting.push(resolve));
    return 'answered';
  });
  const port = await listen(app);

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
  // Half of the connections are idle when the application closes, and half are busy.
  for (const answer of waiting.splice(CLIENTS / 2)) answer();
  await Promise.race(answers);
  const closed = closing(app);
  for (const answer of waiting) answer();
  expect(await Promise.all(answers)).toEqual(new Array(CLIENTS).fill('answered'));
  // Clients keep these connections for minutes.
  expect(await closed).toBeLessThan(10_000);
});

test('closing completes a response that its client reads slowly', async () => {
  const app = buildApp();
  app.get('/', async () => LARGE);
  const port = await listen(app);
  const socket = connect(port, HOST);
  socket.pause();
  socket.write(GET);
  // The response has started.
  await once(socket, 'readable');
  const closed = closing(app);
  // Long enough for idle connections to be closed.
  await sleep(500);
  socket.resume();
  expect((await text(socket)).length).toBeGreaterThan(LARGE.length);
  await closed;
});

test.each([
  ['nothing', ''],
  ['a part of a head', GET.slice(0, -4)],
  [
    'a part of a body',
    'POST / HTTP/1.1\r\nHost: a\r\nContent-Type: text/plain\r\nContent-Length: 9\r\n\r\n1',
  ],
])('closing does not wait for a client that has sent %s', async (_name, bytes) => {
  const app = buildApp();
  app.post('/', async () => 'answered');
  const port = await listen(app);
  const socket = connect(port, HOST).on('error', () => undefined);
  const [peer] = await once(app.server, 'connection');
  socket.write(bytes);
  await expect.poll(() => peer.bytesRead).toBe(bytes.length);
  expect(await closing(app)).toBeLessThan(PATIENCE.closingMs);
});

test('while it drains, a replica keeps serving, and each connection ends after its current requests', async () => {
  const app = buildApp();
  let answer: (() => void) | undefined;
  app.get('/', async () => 'answered');
  app.get('/waiting', async () => {
    await new Promise<void>(resolve => {
      answer = resolve;
    });
    return 'answered';
  });
  const port = await listen(app);
  const begun = converse(port, GET.replace('/', '/waiting'));
  await expect.poll(() => answer).toBeDefined();

  const began = performance.now();
  const draining = app.drain(500);
  answer?.();
  const ends = [await begun, await converse(port, GET), await converse(port, GET.repeat(3))];
  expect(ends.map(({ answers, end }) => [answers.length, end])).toEqual([
    [1, 'closed'],
    [1, 'closed'],
    [3, 'closed'],
  ]);
  for (const { answers } of ends) {
    expect(answers.at(-1)).toMatchObject({ statusCode: 200, headers: { connection: 'close' } });
  }
  await draining;
  expect(performance.now() - began).toBeGreaterThan(490);
});

test('the port closes only once every waiting connection is accepted', async () => {
  const app = buildApp({ acceptMs: 30_000, closingMs: 30_000 });
  app.get('/', async () => 'answered');
  const port = await listen(app);
  // Node accepts one of them in each turn of its event loop.
  const ends = Array.from({ length: 100 }, () => converse(port, GET));
  await app.close();
  for (const { answers, end } of await Promise.all(ends)) {
    expect([answers.length, end]).toEqual([1, 'closed']);
  }
});

test('an endless stream of new connections does not keep the port open', async () => {
  const app = buildApp({ acceptMs: 1_000 });
  const port = await listen(app);
  const dial = () => {
    const socket = connect(port, HOST, () => socket.destroy()).on('error', () => undefined);
  };
  app.server.on('connection', dial);
  for (let n = 0; n < 50; n++) dial();
  expect(await closing(app)).toBeGreaterThan(990);
});
