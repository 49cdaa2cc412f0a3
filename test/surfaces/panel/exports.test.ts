import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { once } from 'node:events';
import { request as requestOver } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { FastifyInstance } from 'fastify';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { addMerchant, type MerchantWithKey } from '../../helpers/accounts.ts';
import { startTestApp, type TestApp } from '../../helpers/app.ts';
import { addEndpoint } from '../../helpers/deliveries.ts';
import { addMerchantUser, HOST } from '../../helpers/panel.ts';
import { addPayment } from '../../helpers/payments.ts';

let service: TestApp;
let shop: MerchantWithKey;
let port: number;
/** Path of the signed evidence of a payment. */
let evidence: string;
let cookie: string;
/** A response that its request asks to be delayed, and what it waits for. */
let waits = Promise.withResolvers<void>();
let gate = Promise.withResolvers<void>();

beforeAll(async () => {
  const listen = (message: unknown) => {
    const { fastify } = message as { fastify: FastifyInstance };
    fastify.addHook('onSend', async (request, reply, payload) => {
      if (request.headers['x-test'] === 'wait') {
        waits.resolve();
        await gate.promise;
      }
      if (request.headers['x-test'] === 'leave') {
        request.raw.socket.destroy();
        await once(reply.raw, 'close');
      }
      return payload;
    });
  };
  subscribe('fastify.initialization', listen);
  service = await startTestApp();
  unsubscribe('fastify.initialization', listen);
  shop = await addMerchant(service);
  const created = { created_at: new Date(service.clock.now) };
  const { id } = await addPayment(service.db, shop.merchant, created);
  evidence = `payments/${id}/evidence.json`;
  await service.app.listen({ host: '127.0.0.1', port: 0 });
  ({ port } = service.app.server.address() as AddressInfo);
});
afterAll(() => service.close());
beforeEach(async () => {
  ({ cookie } = await addMerchantUser(service, shop.merchant.id, 'admin'));
  waits = Promise.withResolvers<void>();
  gate = Promise.withResolvers<void>();
});

/** Requests a file and reads it to its end. */
async function download(test = 'nothing', file = 'payments.csv', method = 'GET'): Promise<number> {
  const request = requestOver({
    host: '127.0.0.1',
    port,
    agent: false,
    method,
    path: `/panel/merchants/${shop.merchant.id}/${file}`,
    headers: { host: HOST, cookie, 'sec-fetch-site': 'same-origin', 'x-test': test },
  });
  const [response] = await once(request.end(), 'response');
  await response.toArray();
  return response.statusCode;
}

const countExports = async () =>
  (
    await service.db
      .selectFrom('audit_log')
      .select('id')
      .where('action', '=', 'payment.export')
      .execute()
  ).length;

test('a client that disconnects before the first row may request another file', async () => {
  const before = await countExports();
  await expect(download('leave')).rejects.toThrow();
  expect(await download()).toBe(200);
  // A file that was not sent is not in the audit log.
  expect(await countExports()).toBe(before + 1);
});

test('one at a time', async () => {
  const first = download('wait');
  await waits.promise;
  expect(await download()).toBe(429);
  gate.resolve();
  expect(await first).toBe(200);
  expect(await download()).toBe(200);
});

test('files of all kinds count together', async () => {
  const { endpoint } = await addEndpoint(service, shop.merchant.id);
  const developer = 'settings/developer';
  const files = [
    'payments',
    `${developer}/requests`,
    `${developer}/webhooks/${endpoint.id}/deliveries`,
  ];
  for (const file of [...files, ...files])
    expect(await download('nothing', `${file}.csv`)).toBe(200);
  for (const file of files) expect(await download('nothing', `${file}.csv`)).toBe(429);
});

test('six an hour, and the next hour six again', async () => {
  for (let taken = 0; taken < 6; taken++) expect(await download()).toBe(200);
  expect(await download()).toBe(429);
  service.clock.now += 40 * 60_000;
  expect(await download()).toBe(429);
  service.clock.now += 21 * 60_000;
  for (let taken = 0; taken < 6; taken++) expect(await download()).toBe(200);
  expect(await download()).toBe(429);
});

test('signed evidence is one of the six, and of the one at a time', async () => {
  for (let taken = 0; taken < 7; taken++) {
    expect(await download('nothing', evidence, 'HEAD')).toBe(200);
  }
  const first = download('wait', evidence);
  await waits.promise;
  expect(await download('nothing', evidence)).toBe(429);
  expect(await download()).toBe(429);
  gate.resolve();
  expect(await first).toBe(200);
  for (let taken = 1; taken < 5; taken++) {
    expect(await download('nothing', evidence)).toBe(200);
  }
  expect(await download()).toBe(200);
  expect(await download()).toBe(429);
  expect(await download('nothing', evidence)).toBe(429);
  expect(await download('nothing', evidence, 'HEAD')).toBe(200);
  service.clock.now += 60 * 60_000;
});
