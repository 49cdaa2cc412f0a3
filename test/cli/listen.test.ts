import { afterAll, afterEach, beforeAll, beforeEach, expect, test, vi } from 'vitest';
import { run } from '#cli/run.ts';
import { verifyWebhook } from '#client/index.ts';
import { newId } from '#crypto/new-id.ts';
import { eventEnvelope } from '#payments/webhooks/send-event.ts';
import type { Merchant } from '#storage/database/account-tables.ts';
import { insertEvent } from '#storage/repositories/payments/events.ts';
import { addMerchant, type MerchantWithKey } from '../helpers/accounts.ts';
import { addPayment } from '../helpers/payments.ts';
import { recordEvent } from '../helpers/record-event.ts';
import { startTcpProxy } from '../helpers/tcp-proxy.ts';
import { type Receiver, stall, startReceiver, status } from '../payments/webhooks/receiver.ts';
import { type Environment, mpHere, type Operated, startOperated } from './mp.ts';

const PATIENCE = { timeout: 40_000, interval: 10 };
/** Pause between requests to the service, in milliseconds, so that events come at once. */
const POLL_MS = 50;

let service: Operated;
let receiver: Receiver;
let url: string;
let shop: Merchant;
/** The merchant's key, and no database: the events come from the API. */
let own: Environment;
beforeAll(async () => {
  [service, receiver] = await Promise.all([startOperated(), startReceiver()]);
  url = await service.app.listen({ host: '127.0.0.1', port: 0 });
});
afterAll(async () => {
  await receiver.close();
  await service.close();
});

beforeEach(async () => {
  receiver.answer = status(200);
  receiver.requests.length = 0;
  const key = await addMerchant(service);
  shop = key.merchant;
  own = keyEnvironment(key);
});

function keyEnvironment({ keyId, secret, passphrase }: MerchantWithKey): Environment {
  return {
    MP_KEY_ID: keyId,
    MP_SECRET: secret,
    MP_PASSPHRASE: passphrase,
    DATABASE_URL: 'not a database',
    PUBLIC_URL: url,
  };
}

interface Listener {
  out: string;
  err: string;
  /** Presses Ctrl-C; resolves with the exit status. */
  interrupt(): Promise<number>;
}

const listeners: Listener[] = [];
afterEach(async () => {
  for (const listener of listeners.splice(0)) await listener.interrupt();
});

/** Starts `mp listen` and waits until it listens. */
async function listen(flags: readonly string[] = [], env: Environment = {}): Promise<Listener> {
  return start(['--forward-to', receiver.url, ...flags], env);
}

async function start(flags: readonly string[], env: Environment = {}): Promise<Listener> {
  const controller = new AbortController();
  const ended = run(['listen', ...flags], {
    env: { ...own, ...env },
    out: text => {
      listener.out += text;
    },
    err: text => {
      listener.err += text;
    },
    untilInterrupted: () => controller.signal,
    pollMs: POLL_MS,
  });
  const listener: Listener = {
    out: '',
    err: '',
    async interrupt() {
      controller.abort();
      return ended;
    },
  };
  listeners.push(listener);
  await vi.waitUntil(() => listener.out !== '' || listener.err !== '', PATIENCE);
  expect(listener.err).toBe('');
  return listener;
}

/** Records an event as the service does; returns the ID of its payment. */
async function tell(merchant = shop, type: 'created' | 'expired' = 'created'): Promise<string> {
  const now = new Date();
  const payment = await addPayment(service.db, merchant, { created_at: now });
  await recordEvent(service.db, `payment_prompt.${type}`, payment, now);
  return payment.id;
}

/** Records an event of a type that is sent only to those who name it. */
function tellDeposit(): Promise<void> {
  return insertEvent(service.db, {
    id: newId(),
    merchantId: shop.id,
    paymentId: null,
    createdAt: new Date(),
    type: 'payment_prompt.deposit_unmatched',
    data: '{"id":"deposit"}',
    traceparent: null,
    tracestate: null,
  });
}

const paymentsTold = () => receiver.requests.map(({ event }) => event.data.id);

test('forwards a merchant’s events from now on, signed, until Ctrl-C', async () => {
  const { merchant: other } = await addMerchant(service);
  await tell();
  const listener = await listen();
  const [, secret = ''] = /^export WEBHOOK_SECRET='(whsec_\S+)' /m.exec(listener.out) ?? [];
  expect(listener.out).toContain(
    `Events that ${own.MP_KEY_ID} reads at ${url} go to ${receiver.url}.`,
  );
  await tell(other);
  await tellDeposit();
  const payment = await tell();
  await receiver.received(1);
  const [request] = receiver.requests;
  if (request === undefined) throw new Error('nothing came');
  const event = verifyWebhook({ ...request, secret });
  expect(event).toMatchObject({ type: 'payment_prompt.created', data: { id: payment } });
  const { data } = await service.db
    .selectFrom('events')
    .select(({ cast }) => cast<string>('data', 'text').as('data'))
    .where('id', '=', event.id)
    .executeTakeFirstOrThrow();
  expect(request.body).toBe(
    eventEnvelope({ ...event, createdAt: new Date(event.createdAt), data }),
  );
  await vi.waitUntil(() => listener.out.includes(event.id), PATIENCE);
  expect(listener.out).toMatch(
    new RegExp(`^\\S+Z  ${event.id}  payment_prompt\\.created  HTTP 200  \\d+ ms\\n$`, 'm'),
  );
  expect(await listener.interrupt()).toBe(0);
  await tell();
  expect(paymentsTold()).toEqual([payment]);
});

test('forwards some types with the given secret, and prints lines of JSON', async () => {
  const secret = `whsec_${Buffer.alloc(32, 7).toString('base64')}`;
  const types = ['--types', 'payment_prompt.expired,payment_prompt.successful', '--json'];
  const listener = await listen(types, { WEBHOOK_SECRET: secret });
  await tell();
  const expired = await tell(shop, 'expired');
  await receiver.received(1);
  expect(
    verifyWebhook({ ...(receiver.requests[0] ?? { headers: {}, body: '' }), secret }),
  ).toMatchObject({ type: 'payment_prompt.expired', data: { id: expired } });
  await vi.waitUntil(() => listener.out.trimEnd().includes('\n'), PATIENCE);
  expect(await listener.interrupt()).toBe(0);
  const lines = listener.out
    .trimEnd()
    .split('\n')
    .map(line => JSON.parse(line));
  expect(lines).toEqual([
    { url, keyId: own.MP_KEY_ID, forwardTo: receiver.url },
    {
      at: expect.stringMatching(/Z$/),
      eventId: receiver.requests[0]?.event.id,
      type: 'payment_prompt.expired',
      statusCode: 200,
      error: null,
      responseExcerpt: '',
      durationMs: expect.any(Number),
    },
  ]);
});

test('prints webhooks as a receiver gets them, without one', async () => {
  const listener = await start(['--print']);
  const [, secret = ''] = /^export WEBHOOK_SECRET='(whsec_\S+)' /m.exec(listener.out) ?? [];
  const payment = await tell();
  await vi.waitUntil(() => listener.out.includes('  The signature verifies.\n'), PATIENCE);
  const headers = Object.fromEntries(
    [...listener.out.matchAll(/^ {2}(webhook-\w+): (.+)$/gm)].map(([, name, value]) => [
      name,
      value,
    ]),
  );
  const [, body = ''] = /^ {2}(\{.*\})$/m.exec(listener.out) ?? [];
  expect(verifyWebhook({ headers, body, secret })).toMatchObject({ data: { id: payment } });
  expect(listener.out).toMatch(
    new RegExp(`payment_prompt\\.created {2}${payment}\n {2}webhook-id`),
  );
  expect(receiver.requests).toEqual([]);
});

test('prints webhooks beside the responses of the receiver', async () => {
  const listener = await listen(['--print', '--json']);
  await tell();
  await vi.waitUntil(() => listener.out.includes('"failure"'), PATIENCE);
  const printed = JSON.parse(listener.out.trimEnd().split('\n')[1] ?? '');
  const [request] = receiver.requests;
  expect(printed).toMatchObject({ statusCode: 200, body: request?.body, failure: null });
  expect(request?.headers).toMatchObject(printed.headers);
});

test('reports a receiver that is down or refuses, repeats nothing, and continues', async () => {
  const listener = await listen(['--forward-to', 'http://localhost:9/hooks']);
  await tell();
  await vi.waitUntil(() => /not sent: .*ECONNREFUSED/.test(listener.out), PATIENCE);
  await tell();
  await vi.waitUntil(() => listener.out.match(/not sent: /g)?.length === 2, PATIENCE);
  const refused = await listen();
  receiver.answer = status(500);
  await tell();
  await vi.waitUntil(() => refused.out.includes('HTTP 500'), PATIENCE);
  receiver.answer = status(204);
  const last = await tell();
  await vi.waitUntil(() => refused.out.includes('HTTP 204'), PATIENCE);
  expect(paymentsTold()).toHaveLength(2);
  expect(paymentsTold().at(-1)).toBe(last);
});

test('stops at once while a receiver does not respond', async () => {
  receiver.answer = stall;
  const listener = await listen();
  await tell();
  await receiver.received(1);
  const started = performance.now();
  expect(await listener.interrupt()).toBe(0);
  expect(performance.now() - started).toBeLessThan(5_000);
});

test('does not affect the deliveries of endpoints', async () => {
  const create = ['webhook', 'create', '--merchant', shop.id, '--url', receiver.url];
  await service.ask(...create);
  await listen();
  await tell();
  await receiver.received(1);
  const deliveries = await service.db
    .selectFrom('webhook_deliveries')
    .innerJoin('webhook_endpoints', 'webhook_endpoints.id', 'endpoint_id')
    .where('merchant_id', '=', shop.id)
    .select(['status', 'attempts', 'claimed_until'])
    .execute();
  expect(deliveries).toEqual([{ status: 'pending', attempts: 0, claimed_until: null }]);
});

test('waits while the service is down, and misses nothing', async () => {
  const { port } = new URL(url);
  const proxy = await startTcpProxy('127.0.0.1', Number(port));
  const listener = await listen([], { PUBLIC_URL: `http://127.0.0.1:${proxy.port}` });
  await proxy.cut();
  await vi.waitUntil(() => listener.err.includes('waiting for it'), PATIENCE);
  const payment = await tell();
  await proxy.open();
  await receiver.received(1);
  await vi.waitUntil(() => listener.err.includes('answers again'), PATIENCE);
  expect(paymentsTold()).toEqual([payment]);
  expect(listener.err.match(/waiting for it|answers again/g)).toHaveLength(2);
  await listener.interrupt();
  await proxy.cut();
});

test('works in production, and refuses impossible options with the reason', async () => {
  const listener = await listen([], { NODE_ENV: 'production' });
  expect(await listener.interrupt()).toBe(0);
  const refused = (args: string[], env: Environment = {}) =>
    mpHere(['listen', ...args], { ...own, ...env });
  expect((await refused(['--forward-to', 'localhost'])).err).toMatch(/^The URL is refused: /);
  const secret = { WEBHOOK_SECRET: 'whsec_?' };
  expect(await refused(['--forward-to', receiver.url], secret)).toMatchObject({
    status: 1,
    err: 'WEBHOOK_SECRET must be whsec_ and base64.\n',
  });
  expect(await refused([], { MP_SECRET: 'mps_1' })).toMatchObject({
    status: 1,
    err: expect.stringMatching(/^E2007: .*"mp explain E2007" says more\.\n$/),
  });
  expect((await mpHere(['listen'])).err).toMatch(/^There are no demo keys in /);
  expect(await refused(['--types', 'payment_prompt.paid'])).toMatchObject({ status: 2, out: '' });
});
