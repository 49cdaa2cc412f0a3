import { once } from 'node:events';
import { createServer, type IncomingMessage } from 'node:http';
import { type AddressInfo, connect, type Socket } from 'node:net';
import { expect, test } from 'vitest';
import { ApiError } from '#errors/api-error.ts';
import { BodyTooLarge, readRawBody } from '#http/raw-body.ts';

const HEAD = 'POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 10\r\n\r\n';

/** A client that has sent the beginning of a request, and the request as a server has it. */
async function sendPart(body: string): Promise<{ client: Socket; request: IncomingMessage }> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const client = connect((server.address() as AddressInfo).port, '127.0.0.1');
  client.write(HEAD + body);
  const [request] = (await once(server, 'request')) as [IncomingMessage];
  request.once('close', () => {
    client.destroy();
    server.close();
  });
  return { client, request };
}

test('a body that comes in parts is whole', async () => {
  const { client, request } = await sendPart('01234');
  const body = readRawBody(request);
  client.write('56789');
  expect(String(await body)).toBe('0123456789');
});

test('a body is read to its end above the limit, and not kept', async () => {
  const { client, request } = await sendPart('01234');
  const body = readRawBody(request, 9);
  client.write('56789');
  await expect(body).rejects.toThrow(BodyTooLarge);
  expect(request.complete).toBe(true);
});

test('a client that goes away while its body is read ends that', async () => {
  const { client, request } = await sendPart('01234');
  const body = readRawBody(request);
  client.destroy();
  await expect(body).rejects.toThrow(ApiError);
});

test('a client that has gone away before ends it as well', async () => {
  const { client, request } = await sendPart('01234');
  const closed = new Promise(resolve => request.once('close', resolve));
  client.destroy();
  await closed;
  await expect(readRawBody(request)).rejects.toThrow(ApiError);
});
