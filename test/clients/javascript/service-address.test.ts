import { afterAll, beforeAll, expect, test } from 'vitest';
import { type ClientOptions, createClient } from '#client/index.ts';
import { signRequest } from '#signing/canonical.ts';
import { type ScriptedServer, startScriptedServer } from './scripted-server.ts';

let server: ScriptedServer;

beforeAll(async () => {
  server = await startScriptedServer();
});
afterAll(() => server.close());

const client = (options: Partial<ClientOptions> = {}) =>
  createClient({
    keyId: 'mpk_1',
    secret: 'mps_1',
    passphrase: 'pass',
    baseUrl: server.url,
    maxAttempts: 1,
    ...options,
  });

const requestTo = async (baseUrl: string, path: string) => {
  server.script({ status: 200 });
  await client({ baseUrl }).request({ method: 'GET', path });
  const [request] = server.received;
  if (request === undefined) throw new Error('nothing was sent');
  return request;
};
const isSignedAs = (path: string) => {
  const [request] = server.received;
  if (request === undefined) return false;
  const { headers, method } = request;
  const signature = signRequest('mps_1', {
    timestamp: String(headers['x-mp-timestamp']),
    nonce: String(headers['x-mp-nonce']),
    method,
    path,
    body: Buffer.alloc(0),
  });
  return headers['x-mp-signature'] === signature.toString('hex');
};

test.each(['', '/', '//'])('baseUrl may end in "%s"', async ending => {
  const { path } = await requestTo(server.url + ending, '/external/v1/payments?limit=1');
  expect(path).toBe('/external/v1/payments?limit=1');
  expect(isSignedAs(path)).toBe(true);
});

test.each(['', '/'])('a path prefix with "%s" at its end is sent, not signed', async ending => {
  const { path } = await requestTo(`${server.url}/gateway/pay${ending}`, '/external/v1/payments');
  expect(path).toBe('/gateway/pay/external/v1/payments');
  expect(isSignedAs('/external/v1/payments')).toBe(true);
});

test.each([
  '/external/v1/payments?customerReferenceId=a b&status=ü',
  '/external/v1/payments/ä ö/😀',
  '/external/v1/payments?a=\'"<>|^`{}',
  '/external/v1/payments?a=%2f%2F+1#part',
  '/external/v1//payments/',
  '/external/v1/a/../payments/.',
  '//other.example/external/v1/payments',
  '/\\other.example/',
])('%s reaches this service and is signed as it is sent', async text => {
  const { path } = await requestTo(server.url, text);
  expect(isSignedAs(path)).toBe(true);
});

test('IDs cannot change the path', async () => {
  for (const id of ['a/b', '../blockchains/active', 'a?b=c', 'a#b', 'ä 1', '%2e%2e']) {
    server.script({ status: 200 });
    await client().getPayment(id);
    const path = server.received[0]?.path ?? '';
    expect(decodeURIComponent(path)).toBe(`/external/v1/payments/${id}`);
    expect(isSignedAs(path)).toBe(true);
  }
});

test('a path must start with a slash, and must not leave the prefix', async () => {
  const send = (path: string, baseUrl = server.url) =>
    client({ baseUrl }).request({ method: 'GET', path });
  for (const path of ['', 'external/v1', '@other.example/', ':80/', '.other.example/']) {
    await expect(send(path)).rejects.toThrow(TypeError);
  }
  await expect(send('/../admin', `${server.url}/gateway`)).rejects.toThrow(TypeError);
});

test.each([
  '',
  'payments.example.com',
  'ftp://payments.example.com',
  'https://user@payments.example.com',
  'https://payments.example.com/?a=b',
  'https://payments.example.com/#a',
])('"%s" is an invalid baseUrl', baseUrl => {
  expect(() => client({ baseUrl })).toThrow(TypeError);
});

test.each([0, -1, 1.5, Number.NaN, Number.POSITIVE_INFINITY])(
  '%d is an invalid number of attempts',
  value => {
    expect(() => client({ maxAttempts: value })).toThrow('maxAttempts');
    expect(() => client({ timeoutMs: value })).toThrow('timeoutMs');
  },
);
