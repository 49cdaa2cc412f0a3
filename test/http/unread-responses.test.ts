import { once } from 'node:events';
import { type AddressInfo, connect, type Socket } from 'node:net';
import { text } from 'node:stream/consumers';
import Fastify, { type FastifyInstance } from 'fastify';
import { expect, onTestFinished, test } from 'vitest';
import { Admission } from '#http/admission.ts';
import { limitUnreadResponses } from '#http/unread-responses.ts';
import { startListeningApp } from '../helpers/listening-app.ts';

const HOST = '127.0.0.1';
/** More bytes than the kernel buffers for a response that is not read. */
const LARGE = 'x'.repeat(10_000_000);

/** An application that uses the path as the key. */
async function listen(prepare: (app: FastifyInstance) => void): Promise<number> {
  const app = Fastify({ forceCloseConnections: true });
  onTestFinished(() => app.close());
  app.decorateRequest('keyId', null);
  app.addHook('onRequest', async request => {
    request.keyId = request.url;
  });
  prepare(app);
  app.get('/*', async () => LARGE);
  await app.listen({ host: HOST, port: 0 });
  return (app.server.address() as AddressInfo).port;
}

/** Sends a request and never reads; resolves once the response has begun to arrive. */
async function dial(port: number, path: string, times = 1): Promise<Socket> {
  const socket = connect(port, HOST).pause();
  socket.on('error', () => undefined);
  onTestFinished(() => void socket.destroy());
  const request = `GET ${path} HTTP/1.1\r\nHost: a\r\n\r\n`;
  const last = request.replace(/\r\n$/, 'Connection: close\r\n\r\n');
  socket.write(request.repeat(times - 1) + last);
  await once(socket, 'readable');
  return socket;
}

/** Whether the connection was ended before its response. */
async function isCut(socket: Socket): Promise<boolean> {
  const received = await text(socket.resume()).catch(() => '');
  return received.length < LARGE.length;
}

test('clients that do not read occupy no slot', async () => {
  const admission = new Admission(4);
  const port = await listen(app => {
    admission.releaseWhenReady(app);
    app.addHook('onRequest', async (request, reply) => {
      admission.enter(request, reply);
      admission.countKey(request);
    });
  });
  for (let time = 0; time < 8; time++) {
    const socket = await dial(port, time % 2 ? '/a' : '/b');
    expect(String(socket.read(15))).toBe('HTTP/1.1 200 OK');
  }
});

test('the unread responses of one client are bounded, and cost no other client its response', async () => {
  const port = await listen(app => limitUnreadResponses(app, 2.5 * LARGE.length));
  const other = await dial(port, '/other');
  const sockets: Socket[] = [];
  for (let time = 0; time < 4; time++) sockets.push(await dial(port, '/a'));
  // The oldest ones are cut.
  expect(await Promise.all(sockets.map(isCut))).toEqual([true, true, false, false]);
  expect(await isCut(other)).toBe(false);
});

test('responses that are read no longer count', async () => {
  const port = await listen(app => limitUnreadResponses(app, 1.5 * LARGE.length));
  for (let time = 0; time < 4; time++) {
    const answer = await fetch(`http://${HOST}:${port}/a`);
    expect((await answer.text()).length).toBe(LARGE.length);
  }
});

test('the documentation, which requires no signature, is bounded as well', async () => {
  const { service, port } = await startListeningApp();
  onTestFinished(() => service.close());
  const size = (await (await fetch(`http://${HOST}:${port}/openapi.json`)).text()).length;
  const socket = await dial(port, '/openapi.json', Math.ceil(20_000_000 / size));
  const connections = () =>
    new Promise<number>(resolve =>
      service.app.server.getConnections((_error, count) => resolve(count)),
    );
  await expect.poll(connections).toBeLessThanOrEqual(1);
  expect(socket.destroyed || (await isCut(socket))).toBe(true);
});
