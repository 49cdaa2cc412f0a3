import { hash } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type RequestListener, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { openBreachedPasswords } from '#accounts/people/breached-passwords.ts';
import { addMerchant } from '../../helpers/accounts.ts';
import { startTestApp } from '../../helpers/app.ts';
import { addMerchantUser, codeAt, PASSWORD, submit, textOf } from '../../helpers/panel.ts';

const STOLEN = 'sunflowers in my grandmother’s garden';
const SHA1 = hash('sha1', STOLEN, 'hex').toUpperCase();
const [PREFIX, REST] = [SHA1.slice(0, 5), SHA1.slice(5)];
const OTHERS = Array.from({ length: 900 }, (_, n) => `${hash('sha1', `${n}`).slice(5)}:${n}`);

let server: Server;
let url: string;
let respond: RequestListener;
const asked: { path: string | undefined; padding: unknown }[] = [];
const warnings: object[] = [];

beforeAll(async () => {
  server = createServer((request, response) => {
    asked.push({ path: request.url, padding: request.headers['add-padding'] });
    respond(request, response);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/range`;
});
afterAll(() => {
  server.closeAllConnections();
  server.close();
});
beforeEach(() => {
  asked.length = 0;
  warnings.length = 0;
});

const isBreached = (timeoutMs = 5_000) =>
  openBreachedPasswords(url, {
    log: { warn: (entry: object) => void warnings.push(entry) },
    timeoutMs,
  })(STOLEN);

test('five characters of the hash are sent, and the rest is searched in the response', async () => {
  const found = `${REST}:3`;
  const lines = [...OTHERS, found].map(line => line.toUpperCase());
  for (const range of [lines.join('\r\n'), lines.join('\n').toLowerCase(), found]) {
    respond = (_, response) => response.end(range);
    expect(await isBreached()).toBe(true);
  }
  expect(asked).toEqual(Array(3).fill({ path: `/range/${PREFIX}`, padding: 'true' }));
});

test('padding, and other hashes, do not match the password', async () => {
  for (const range of [OTHERS.join('\r\n').toUpperCase(), `${REST}:0\r\n`]) {
    respond = (_, response) => response.end(range);
    expect(await isBreached()).toBe(false);
  }
  expect(warnings).toEqual([]);
});

test.each<[string, string, RequestListener]>([
  ['a refusal', 'status 429', (_, response) => response.writeHead(429).end(`${REST}:3`)],
  [
    'a redirect, which is not followed',
    'status 302',
    (_, response) => response.writeHead(302, { location: `${url}/elsewhere` }).end(),
  ],
  ['something else', 'no range', (_, response) => response.end('<html></html>')],
  [
    'more than a range has',
    'UND_ERR_RES_EXCEEDED_MAX_SIZE',
    (_, response) => response.end(`${REST}:3\r\n${'x'.repeat(300_000)}`),
  ],
  ['a broken connection', 'UND_ERR_SOCKET', (_, response) => response.destroy()],
])('with %s a password passes, which is logged without it', async (_, reason, listener) => {
  respond = listener;
  expect(await isBreached()).toBe(false);
  expect(asked).toHaveLength(1);
  expect(warnings).toEqual([{ reason }]);
});

test('it passes without a response in time, and when nothing listens', async () => {
  respond = () => undefined;
  expect(await isBreached(50)).toBe(false);
  respond = (_, response) => response.write(`${REST}:3\r\n`);
  expect(await isBreached(50)).toBe(false);
  expect(warnings).toEqual([{ reason: 'TimeoutError' }, { reason: 'TimeoutError' }]);
  const log = { warn: (entry: object) => void warnings.push(entry) };
  expect(await openBreachedPasswords('http://127.0.0.1:1', { log })(STOLEN)).toBe(false);
  expect(warnings.at(-1)).toEqual({ reason: 'ECONNREFUSED' });
});

test('a form refuses a breached password, and accepts it when the check is unavailable', async () => {
  const service = await startTestApp({ env: { BREACHED_PASSWORDS_URL: url } });
  const { merchant } = await addMerchant(service);
  const admin = await addMerchantUser(service, merchant.id, 'admin', { withPassword: true });
  const change = () => {
    service.clock.now += 30_000;
    const code = codeAt(admin.secret, service.clock.now);
    const form = { 'new-password': STOLEN, password: PASSWORD, code };
    return submit(service, '/panel/profile/password', form, admin);
  };
  respond = (_, response) => response.end(`${REST}:3`);
  const refused = await change();
  expect(refused.statusCode).toBe(422);
  expect(textOf(refused)).toContain('This password was found in data that was stolen');
  respond = (_, response) => response.writeHead(503).end();
  expect((await change()).statusCode).toBe(303);
  const log = JSON.stringify(service.logs);
  expect(log).toContain('"reason":"status 503"');
  for (const part of [STOLEN, PREFIX, REST]) expect(log).not.toContain(part);
  await service.close();
});
