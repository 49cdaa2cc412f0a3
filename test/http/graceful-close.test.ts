import { once } from 'node:events';
import { Agent, request } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { setImmediate as nextTurn } from 'node:timers/promises';
import Fastify from 'fastify';
import { expect, onTestFinished, test } from 'vitest';
import { closeIdleConnections, SERVER_OPTIONS } from '../../src/http/server-options.ts';

const HOST = '127.0.0.1';
const CLIENTS = 16;

test('a name with several addresses is served at one of them', async () => {
  const app = Fastify(SERVER_OPTIONS);
  onTestFinished(() => app.close());
  await app.listen({ host: 'localhost', port: 0 });
  expect(app.addresses()).toHaveLength(1);
});

test('closing answers what is in flight and waits for no connection that a client keeps', async ({
  signal,
}) => {
  const app = Fastify(SERVER_OPTIONS);
  closeIdleConnections(app);
  const waiting: (() => void)[] = [];
  app.get('/', async () => {
    await new Promise<void>(resolve => waiting.push(resolve));
    return 'answered';
  });
  onTestFinished(() => app.close());
  await app.listen({ host: HOST, port: 0 });
  const { port } = app.server.address() as AddressInfo;

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
  const began = performance.now();
  const closing = app.close();
  await expect.poll(() => app.server.listening).toBe(false);
  for (const answer of waiting) answer();
  expect(await Promise.all(answers)).toEqual(new Array(CLIENTS).fill('answered'));
  await closing;
  // Clients keep these connections for minutes.
  expect(performance.now() - began).toBeLessThan(3_000);
});
