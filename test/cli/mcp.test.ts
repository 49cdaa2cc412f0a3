import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { resolve } from 'node:path';
import { createInterface } from 'node:readline';
import type { Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { Client } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import type { Credentials } from '#client/index.ts';
import type { CreatePaymentResponse } from '#schemas/create-payment.ts';
import { addKey, addMerchant, type MerchantWithKey } from '../helpers/accounts.ts';
import { COMPILE_CACHE } from '../helpers/compile-cache.ts';
import { addEndpoint } from '../helpers/deliveries.ts';
import { createPrompt } from '../helpers/prompts.ts';
import { type Receiver, startReceiver, status } from '../payments/webhooks/receiver.ts';
import { mp, type Operated, startOperated } from './mp.ts';

const CLI = resolve(import.meta.dirname, '../../src/cli.ts');
const UNKNOWN = '01890a5d-ac96-774b-bcce-b302099a8057';
const READING = ['payment_prompts:read', 'blockchains:read'] as const;

let service: Operated;
let receiver: Receiver;
let url: string;
let shop: MerchantWithKey;
let reading: Credentials;
let created: CreatePaymentResponse;
/** For all tests that only read with it. */
let reader: Awaited<ReturnType<typeof connect>>;

beforeAll(async () => {
  [service, receiver] = await Promise.all([startOperated(), startReceiver(status(503))]);
  await service.app.listen({ host: '127.0.0.1', port: 0 });
  url = `http://127.0.0.1:${(service.app.server.address() as AddressInfo).port}`;
  shop = await addMerchant(service);
  reading = await addKey(service, { merchantId: shop.merchant.id }, { scopes: READING });
  await addEndpoint(service, shop.merchant.id, receiver.url);
  created = await createPrompt(service, shop, { amount: 5000, customerReferenceId: 'order-7' });
  // Its webhook is refused once.
  await service.ask('clock', created.prompt.id, '--advance', '1s');
  reader = await connect(reading);
  // Keeps it over the tests: afterEach stops only what a test has started.
  open.splice(0);
});
afterAll(async () => {
  expect(await reader.end()).toBe('');
  await Promise.all([service.close(), receiver.close()]);
});

const open: Client[] = [];
afterEach(async () => {
  for (const client of open.splice(0)) await client.close();
});

function environmentOf({ keyId, secret, passphrase }: Credentials) {
  return { MP_KEY_ID: keyId, MP_SECRET: secret, MP_PASSPHRASE: passphrase, ...COMPILE_CACHE };
}

/** Starts `mp mcp` as an MCP client does. */
async function connect(key: Credentials) {
  const transport = new StdioClientTransport({
    command: process.execPath,
    args: [CLI, 'mcp', '--url', url],
    env: environmentOf(key),
    stderr: 'pipe',
  });
  const stderr = transport.stderr as Readable;
  const [lines, all] = [createInterface(stderr), text(stderr)];
  const line = once(lines, 'line').then(([first]) => String(first));
  const client = new Client({ name: 'test', version: '1' });
  await client.connect(transport);
  open.push(client);
  return {
    client,
    /** The first line on standard error. */
    warning: () => line,
    /** Ends the process; resolves with its standard error. */
    async end() {
      await client.close();
      return all;
    },
    async ask(name: string, given: Record<string, unknown> = {}) {
      const { content, isError } = await client.callTool({ name, arguments: given });
      const [first] = content as { type: string; text: string }[];
      return { text: first?.text ?? '', isError: isError === true };
    },
  };
}

test('every tool only reads, and describes its input', async () => {
  const { client, ask } = reader;
  const { tools } = await client.listTools();
  expect(tools.map(({ name }) => name)).toEqual([
    ...['get_payment', 'list_payments', 'list_events', 'get_event', 'list_networks'],
    ...['read_error', 'search_guides', 'read_guide'],
  ]);
  for (const { description, annotations } of tools) {
    expect(annotations).toMatchObject({ readOnlyHint: true });
    expect(description).toMatch(/.{50}/);
  }
  const answers: string[] = [];
  const read = async (name: string, given: Record<string, unknown> = {}) => {
    const { text: answer, isError } = await ask(name, given);
    expect(isError, answer).toBe(false);
    answers.push(answer);
    return answer;
  };
  const { prompt, checkoutUrl } = created;
  expect(JSON.parse(await read('get_payment', { paymentId: prompt.id }))).toMatchObject({
    id: prompt.id,
    amount: 5000,
    status: 'pending',
  });
  const listed = await read('list_payments', { customerReferenceId: 'order-7', limit: 1 });
  expect(JSON.parse(listed)).toMatchObject({ data: [{ id: prompt.id }], hasMore: false });

  const events = JSON.parse(await read('list_events', { delivered: false, paymentId: prompt.id }));
  expect(events.data).toMatchObject([
    {
      type: 'payment_prompt.created',
      deliveries: [{ status: 'pending', attempts: 1, lastStatusCode: 503 }],
    },
  ]);
  const event = JSON.parse(await read('get_event', { eventId: events.data[0].id }));
  expect(event.deliveries[0].attempts).toMatchObject([{ statusCode: 503 }]);

  const networks: { id: string }[] = JSON.parse(await read('list_networks'));
  expect(networks.map(network => network.id)).toContain('btc');
  expect(await read('read_error', { code: 'e2007' })).toMatch(/^# .*E2007/);
  const [best] = JSON.parse(await read('search_guides', { query: 'events after an outage' }));
  expect(best.path).toBe('/docs/webhooks');
  expect(await read('read_guide', { path: best.path })).toMatch(/^# Webhooks\n/);
  expect(await read('read_guide', { path: '/docs' })).toContain('/docs/quickstart');

  const all = answers.join('\n');
  const token = new URL(checkoutUrl).pathname.split('/').at(-1) ?? '';
  for (const secret of [token, reading.secret, reading.passphrase]) {
    expect(secret.length).toBeGreaterThan(20);
    expect(all).not.toContain(secret);
  }
});

test('long pages are returned in parts', async () => {
  const { ask } = reader;
  let page = '';
  let parts = 0;
  for (let offset: number | undefined = 0; offset !== undefined; parts++) {
    const { text: part } = await ask('read_guide', { path: '/docs/reference', offset });
    const [, next] = /\n\n\[more: offset (\d+) of \d+\]$/.exec(part) ?? [];
    page += part.replace(/\n\n\[more: offset \d+ of \d+\]$/, '');
    offset = next === undefined ? undefined : Number(next);
  }
  expect(parts).toBeGreaterThan(1);
  expect(page).toBe(await (await fetch(`${url}/docs/reference.md`)).text());
});

describe('tells the model what is wrong', () => {
  test('with its input', async () => {
    const { ask } = reader;
    const unknown = await ask('get_payment', { paymentId: UNKNOWN });
    expect(unknown).toMatchObject({ isError: true, text: expect.stringMatching(/^E3001: .*\n/) });
    expect(unknown.text).toContain('read_error explains E3001');
    for (const [name, given] of [
      ['get_payment', { paymentId: '../payments' }],
      ['list_payments', { limit: 1000 }],
      ['list_payments', { amount: 1 }],
      ['read_error', { code: 'E0000' }],
      ['read_guide', { path: '/docs/nowhere' }],
      ['read_guide', { path: '/openapi.json' }],
      ['read_guide', { path: '/docs/../readyz' }],
      ['search_guides', { query: '' }],
    ] as const) {
      expect((await ask(name, given)).isError, `${name} ${JSON.stringify(given)}`).toBe(true);
    }
  });

  test('with the key', async () => {
    const revoked = await connect({ ...reading, passphrase: 'another' });
    expect(await revoked.ask('list_payments')).toMatchObject({
      isError: true,
      text: expect.stringMatching(/^E2004: /),
    });
    expect((await revoked.ask('read_error', { code: 'E2004' })).isError).toBe(false);
    expect(await revoked.warning()).toMatch(/^Warning: the service refuses this key: E2004: /);
  });
});

test('only reads are requested from the service, also at the start', async () => {
  service.logs.length = 0;
  const { ask, end } = await connect(shop);
  expect((await ask('list_payments')).isError).toBe(false);
  expect((await ask('search_guides', { query: 'nonce' })).isError).toBe(false);
  expect(await end()).toBe('');
  const asked = service.logs.filter(({ msg }) => msg === 'request');
  expect(asked.map(({ method, status }) => `${method} ${status}`)).toEqual(
    Array.from({ length: 3 }, () => 'GET 200'),
  );
});

test('short words and error pages are found, and can be read', async () => {
  const { ask } = reader;
  for (const [query, path] of [
    ['US', '/docs/us-accounts'],
    ['how do I verify a webhook signature', '/docs/webhooks'],
    ['E2007', '/docs/errors/E2007'],
  ]) {
    const [best] = JSON.parse((await ask('search_guides', { query })).text);
    expect([query, best.path]).toEqual([query, path]);
    expect((await ask('read_guide', { path: best.path })).isError).toBe(false);
  }
  // The beginning of several words: of IPv4 and of IPN.
  const { text } = await ask('search_guides', { query: 'IP' });
  const paths = JSON.parse(text).map(({ path }: { path: string }) => path);
  expect(paths).toEqual(
    expect.arrayContaining(['/docs/operating/configuration', '/docs/webhooks']),
  );
  const beyond = await ask('read_guide', { path: '/docs/webhooks', offset: 1_000_000 });
  expect(beyond).toMatchObject({ isError: true, text: expect.stringContaining('characters') });
});

test('without the SDK, it says how to install it', async () => {
  const hook = `import { registerHooks } from 'node:module';
    registerHooks({ resolve: (name, context, next) =>
      next(name.replace('@modelcontextprotocol/', '@not-installed/'), context) });`;
  const {
    status: exit,
    out,
    err,
  } = await mp(['mcp', '--url', url], {
    ...environmentOf(reading),
    NODE_OPTIONS: `--import=data:text/javascript,${encodeURIComponent(hook)}`,
  });
  expect({ exit, out, err }).toEqual({
    exit: 1,
    out: '',
    err: 'mp mcp needs the SDK of the Model Context Protocol: npm install @modelcontextprotocol/server@2\n',
  });
});
