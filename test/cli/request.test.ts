import { spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer as createHttpServer } from 'node:http';
import { type AddressInfo, createServer, type Server } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { announceService } from '#runtime/development/local-service.ts';
import { addMerchant, addPartner, type MerchantWithKey } from '../helpers/accounts.ts';
import { type Environment, mpHere, type Operated, startOperated } from './mp.ts';

const CREATE = '/external/v1/payments/prompt';
const REQUEST_ID = expect.stringMatching(/^[0-9a-f-]{36}$/);

let service: Operated;
let shop: MerchantWithKey;
let directory: string;
/** No database: a request does not need one. */
let env: Environment;
let url: string;
/** Removes the file that says where the service of the data directory listens. */
let withdraw: () => Promise<void>;
beforeAll(async () => {
  service = await startOperated();
  shop = await addMerchant(service);
  url = await service.app.listen({ port: 0, host: '127.0.0.1' });
  directory = await mkdtemp(join(tmpdir(), 'eps-cli-'));
  const us = await addMerchant(service, { kind: 'us', approved: false });
  const partner = await addPartner(service);
  const linked = await addMerchant(service, { partnerId: partner.partner.id });
  await writeFile(
    join(directory, 'demo.json'),
    JSON.stringify({ merchant: { ...shop, merchantId: shop.merchant.id }, us, partner, linked }),
  );
  withdraw = await announceService(directory, url);
  env = { DATA_DIRECTORY: directory, DATABASE_URL: 'not a database' };
});
afterAll(async () => {
  await service.close();
  await rm(directory, { recursive: true, force: true });
});

test('shows status, notable headers and body, and with --json one document', async () => {
  const args = ['request', 'POST', CREATE, '--body', '{"amount":5000}', '--idempotency-key', 'o-1'];
  const first = await mpHere(args, env);
  expect(first).toMatchObject({ status: 0, err: '' });
  const [head = '', ...body] = first.out.split('\n\n');
  expect(head).toMatch(/^HTTP 201 Created\nX-Request-Id: [0-9a-f-]{36}$/);
  const created = JSON.parse(body.join('\n\n'));
  expect(created.prompt.amount).toBe(5000);
  expect(first.out).toContain('\n  "prompt": {\n    "object": "payment_prompt",\n');

  const again = await mpHere(args, env);
  expect(again.out).toContain('\nIdempotent-Replayed: true\n');
  const replay = await mpHere([...args, '--json'], env);
  expect(JSON.parse(replay.out)).toMatchObject({
    status: 201,
    headers: { 'x-request-id': REQUEST_ID, 'idempotent-replayed': 'true' },
    body: created,
  });
  expect(replay.err).toBe('');
});

test('control characters from others do not reach the terminal', async () => {
  const reference = 'order \u009b31m \u007f';
  const body = JSON.stringify({ amount: 5000, customerReferenceId: reference });
  const args = ['request', 'POST', CREATE, '--body', body];
  for (const flags of [[], ['--json']]) {
    const { out } = await mpHere([...args, ...flags], env);
    expect(out).toContain('"customerReferenceId": "order \\u009b31m \\u007f"');
    expect(out).not.toMatch(/(?!\n)\p{Cc}/u);
  }
  const rude = createHttpServer((_, response) => response.end('<p>\u001b[31m\r\n</p>'));
  rude.listen(0, '127.0.0.1');
  await once(rude, 'listening');
  const { port } = rude.address() as AddressInfo;
  const own = { MP_KEY_ID: shop.keyId, MP_SECRET: shop.secret, MP_PASSPHRASE: shop.passphrase };
  const page = await mpHere(['request', 'GET', '/', '--url', `http://127.0.0.1:${port}`], own);
  expect(page.out).toBe('HTTP 200 OK\n\n<p>\\u001b[31m\\u000d\n</p>\n');
  rude.close();
});

test('mp env gives a shell the variables of the examples', async () => {
  const { out } = await mpHere(['env'], env);
  const show =
    'printf "%s\n" "$MP_URL" "$MP_KEY_ID" "$MP_SECRET" "$MP_PASSPHRASE" "$MP_MERCHANT_ID"';
  const { stdout } = spawnSync('sh', ['-c', `${out}${show}`], { encoding: 'utf8' });
  const { keyId, secret, passphrase } = shop;
  const merchantId = shop.merchant.id;
  expect(stdout.trimEnd().split('\n')).toEqual([url, keyId, secret, passphrase, merchantId]);
  const partner = await mpHere(['env', '--as', 'partner', '--json'], env);
  expect(JSON.parse(partner.out)).toMatchObject({ MP_URL: url, MP_KEY_ID: expect.any(String) });
  expect(partner.out).not.toContain(keyId);
  expect(partner.out).not.toContain('MP_MERCHANT_ID');
  const nowhere = await mpHere(['env'], { DATA_DIRECTORY: '/nowhere' });
  expect(nowhere).toMatchObject({ status: 1, out: '' });
});

test('ends with 1 when the response is no success', async () => {
  const refused = await mpHere(['request', 'POST', CREATE, '--body', '{"amount":5}'], env);
  expect(refused).toMatchObject({ status: 1, err: '' });
  expect(refused.out).toMatch(
    /^HTTP 400 Bad Request\nX-Request-Id: .*\nX-MP-Should-Retry: false\n\n\{\n/,
  );
  expect(refused.out).toContain('"errorCode": "E1001"');
  const unknown = await mpHere(['request', 'GET', '/external/v1/nothing', '--json'], env);
  expect(unknown).toMatchObject({ status: 1, err: '' });
  expect(JSON.parse(unknown.out)).toMatchObject({
    status: 404,
    body: { error: { errorCode: 'E3001' } },
  });
});

test('sends a body unchanged', async () => {
  const file = join(directory, 'body.json');
  const text = '{ "amount" :\n 12345 , "note": "ü ✓" }\n';
  await writeFile(file, text);
  const key = ['--idempotency-key', 'exact'];
  const sent = await mpHere(['request', 'POST', CREATE, '--body', `@${file}`, ...key], env);
  expect(sent.status).toBe(0);
  // The service recognises a repeated request by the bytes of its body.
  const same = await mpHere(['request', 'POST', CREATE, '--body', text, ...key], env);
  expect(same.out).toContain('Idempotent-Replayed: true');
  const other = await mpHere(['request', 'POST', CREATE, '--body', text.trim(), ...key], env);
  expect(other.out).toContain('"errorCode": "E4002"');
  const broken = await mpHere(['request', 'POST', CREATE, '--body', '{"amount":'], env);
  expect(broken.out).toContain('"errorCode": "E1000"');
  const none = await mpHere(['request', 'POST', CREATE], env);
  expect(none.out).toContain('"errorCode": "E1000"');
});

test('refuses a file that cannot be sent unchanged', async () => {
  const file = join(directory, 'latin1.json');
  await writeFile(file, Buffer.from('{"note":"ü"}', 'latin1'));
  expect((await mpHere(['request', 'POST', CREATE, '--body', `@${file}`], env)).err).toBe(
    `The body in "${file}" is not UTF-8 text.\n`,
  );
  const missing = await mpHere(['request', 'POST', CREATE, '--body', '@/no/such/file'], env);
  expect(missing).toEqual({
    status: 1,
    out: '',
    err: 'The body cannot be read from "/no/such/file" (ENOENT).\n',
  });
});

test.each([
  '/external/v1/payments?customerReferenceId=a b&limit=1',
  '/external/v1/payments?customerReferenceId=\'%C3%A9é%27"<>|',
  '/external/v1/../v1/./payments?limit=1',
  '/external/v1/payments?',
  '/external/v1/payments?customerReferenceId=%20%2F%3f+&status=pending',
])('signs the path that it sends: %s', async path => {
  const { status, out } = await mpHere(['request', 'GET', path], env);
  expect(out).toMatch(/^HTTP 200 OK\n/);
  expect(status).toBe(0);
});

test('shows a response that is no JSON unchanged', async () => {
  const { status, out } = await mpHere(['request', 'get', '/docs/errors/E1001'], env);
  expect(status).toBe(0);
  expect(out).toMatch(/\n\n<!doctype html>/i);
  const json = await mpHere(['request', 'GET', '/docs/errors/E1001', '--json'], env);
  expect(JSON.parse(json.out).body).toMatch(/^<!doctype html>/i);
});

test('signs with the named demo key, or else with the environment’s key', async () => {
  const codeOf = async (path: string, flags: string[], more: Environment = {}) => {
    const args = ['request', 'GET', path, '--json', ...flags];
    const { status, body } = JSON.parse((await mpHere(args, { ...env, ...more })).out);
    return body.error?.errorCode ?? status;
  };
  const active = '/external/v1/blockchains/active';
  expect(await codeOf(active, [])).toBe(200);
  expect(await codeOf(active, ['--as', 'us'])).toBe('E2102');
  expect(await codeOf(active, ['--as', 'linked'])).toBe(200);
  expect(await codeOf(active, ['--as', 'partner'])).toBe('E2008');
  expect(await codeOf('/external/partner/team', ['--as', 'partner'])).toBe(200);

  const other = await addMerchant(service, { key: { scopes: ['payment_prompts:read'] } });
  const key = {
    MP_KEY_ID: other.keyId,
    MP_SECRET: other.secret,
    MP_PASSPHRASE: other.passphrase,
  };
  expect(await codeOf(active, [], key)).toBe('E2101');
  expect(await codeOf(active, [], { ...key, PUBLIC_URL: url })).toBe('E2101');
  expect(await codeOf(active, ['--as', 'merchant'], key)).toBe(200);
  expect(await codeOf(active, [], { ...key, MP_SECRET: shop.secret })).toBe('E2007');
});

test('says what it lacks to sign', async () => {
  const args = ['request', 'GET', '/external/v1/payments'];
  const half = await mpHere(args, { ...env, MP_KEY_ID: shop.keyId, MP_SECRET: shop.secret });
  expect(half).toMatchObject({ status: 1, out: '' });
  expect(half.err).toMatch(/^MP_PASSPHRASE must be set too/);
  const none = await mpHere(args, { ...env, DATA_DIRECTORY: join(directory, 'none') });
  expect(none.status).toBe(1);
  expect(none.err).toContain('npm start');
});

describe('the demo keys', () => {
  const list = ['request', 'GET', '/external/v1/payments'];
  const only = () => `The demo keys are sent only to the service on ${url}. Set MP_KEY_ID, `;

  test('go to the running service, even if another one is configured', async () => {
    const { port } = new URL(await unusedUrl());
    const elsewhere = { ...env, PUBLIC_URL: 'https://pay.example.com', HOST: '::1', PORT: port };
    expect((await mpHere(list, elsewhere)).out).toMatch(/^HTTP 200 OK\n/);
  });

  test('go there under another name of this machine as well', async () => {
    const { port } = new URL(url);
    const named = await mpHere([...list, '--url', `http://localhost:${port}`], env);
    expect(named.out).toMatch(/^HTTP 200 OK\n/);
  });

  test('go to no other service', async () => {
    let heard = 0;
    const stranger = createServer(() => heard++);
    const other = await listen(stranger);
    for (const flags of [
      ['--url', other],
      ['--url', other, '--as', 'partner'],
    ]) {
      const refused = await mpHere([...list, ...flags], env);
      expect(refused).toMatchObject({ status: 1, out: '' });
      expect(refused.err.startsWith(only())).toBe(true);
    }
    const abroad = `http://pay.example.com:${new URL(url).port}`;
    expect((await mpHere([...list, '--url', abroad], env)).err.startsWith(only())).toBe(true);

    // Another program has taken the port of a service that has ended.
    await withdraw();
    const message = `No service is running on ${directory}, and its demo keys are sent to no other: start it with "npm start".\n`;
    const { port } = new URL(other);
    expect(await mpHere(list, { ...env, PORT: port })).toEqual({
      status: 1,
      out: '',
      err: message,
    });
    const killed = spawnSync('true');
    await writeFile(
      join(directory, 'service.json'),
      JSON.stringify({ url: other, pid: killed.pid }),
    );
    expect((await mpHere(list, env)).err).toBe(message);
    stranger.close();
    withdraw = await announceService(directory, url);
    expect(heard).toBe(0);
  });
});

describe('a given key goes', () => {
  const list = ['request', 'GET', '/external/v1/payments'];
  let own: Environment;
  beforeAll(() => {
    const { keyId: MP_KEY_ID, secret: MP_SECRET, passphrase: MP_PASSPHRASE } = shop;
    own = { MP_KEY_ID, MP_SECRET, MP_PASSPHRASE, DATABASE_URL: 'not a database' };
  });
  const port = () => new URL(url).port;

  test.each([
    ['to --url', () => [['--url', url], { PUBLIC_URL: 'http://127.0.0.1:1' }]],
    ['to --url before MP_URL', () => [['--url', url], { MP_URL: 'http://127.0.0.1:1' }]],
    ['to MP_URL', () => [[], { MP_URL: `${url}/`, PUBLIC_URL: 'http://127.0.0.1:1' }]],
    ['to PUBLIC_URL', () => [[], { PUBLIC_URL: url, PORT: '1' }]],
    ['to PORT', () => [[], { PORT: port() }]],
    ['to HOST and PORT', () => [[], { HOST: '0.0.0.0', PORT: port() }]],
    ['to the service that runs on the data directory', () => [[], { DATA_DIRECTORY: directory }]],
  ] as [string, () => [string[], Environment]][])('%s', async (_name, choose) => {
    const [flags, more] = choose();
    expect((await mpHere([...list, ...flags], { ...own, ...more })).out).toMatch(/^HTTP 200 OK\n/);
  });

  test('says how to start the service when nothing responds', async () => {
    const unused = await unusedUrl();
    expect(await mpHere([...list, '--url', unused], own)).toEqual({
      status: 1,
      out: '',
      err: `Nothing answers on ${unused} (ECONNREFUSED): is it running? Start it with "npm start".\n`,
    });
  });

  test('and is not sent again when the connection breaks', async () => {
    let connections = 0;
    const rude = createServer(socket => {
      connections++;
      socket.destroy();
    });
    const rudeUrl = await listen(rude);
    const reset = await mpHere([...list, '--url', rudeUrl], own);
    rude.close();
    expect(reset).toMatchObject({ status: 1, out: '' });
    expect(reset.err).toContain(`The request to ${rudeUrl} failed: `);
    expect(connections).toBe(1);
  });
});

async function listen(server: Server): Promise<string> {
  await new Promise<void>(done => server.listen(0, '127.0.0.1', done));
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('no port');
  return `http://127.0.0.1:${address.port}`;
}

async function unusedUrl(): Promise<string> {
  const server = createServer();
  const url = await listen(server);
  await new Promise(done => server.close(done));
  return url;
}
