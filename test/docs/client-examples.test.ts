import { type ChildProcessByStdio, spawn } from 'node:child_process';
import { createHmac, randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import type { Readable, Writable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest';
import { type ListeningApp, startListeningApp } from '../helpers/listening-app.ts';
import { addPayment } from '../helpers/payments.ts';

const ROOT = resolve(import.meta.dirname, '../..');
const GUIDE = readFileSync(resolve(ROOT, 'src/docs/guides/client.md'), 'utf8');
const README = readFileSync(resolve(ROOT, 'README.md'), 'utf8');
/** Parts of the sentences that introduce the examples: five of the guide, then the README's. */
const EXAMPLES = [
  'Create a payment:',
  'Poll it',
  'List all',
  'with Fastify',
  'node:http',
  'create a payment and poll it',
] as const;
/** Longest to wait for what an example does, in milliseconds; only a bug makes it take so long. */
const PATIENCE_MS = 15_000;

type Example = (typeof EXAMPLES)[number];
type Running = ChildProcessByStdio<Writable, Readable, Readable>;

/** The block below the sentence that introduces it, as it stands. */
function codeOf(example: Example): string {
  const blocks = [...`${GUIDE}\n${README}`.matchAll(/^([^\n]+)\n\n```js\n(.*?)^```$/gms)];
  expect(blocks).toHaveLength(EXAMPLES.length);
  const [, , code] = blocks.find(([, sentence]) => sentence?.includes(example)) ?? [];
  if (code === undefined) throw new Error(`There is no example "${example}"`);
  return code;
}

const running: Running[] = [];

/** Starts an example as a module of this package, which imports itself by its `exports`. */
function start(example: Example, env: Record<string, string>): Running {
  const child = spawn(process.execPath, ['--input-type=module', '-'], {
    cwd: ROOT,
    env: { PATH: process.env.PATH, ...env },
    stdio: ['pipe', 'pipe', 'pipe'],
  });
  running.push(child);
  child.stdin.end(codeOf(example));
  return child;
}

/** Runs an example to its end; answers the lines that it printed. */
async function outputOf(child: Running): Promise<string[]> {
  const [out, err, [status]] = await Promise.all([
    text(child.stdout),
    text(child.stderr),
    once(child, 'close'),
  ]);
  expect({ status, err }).toEqual({ status: 0, err: '' });
  return out.trimEnd().split('\n');
}

afterEach(() => {
  for (const child of running.splice(0)) child.kill();
});

describe('the examples of the client', () => {
  let listening: ListeningApp;
  let env: Record<string, string>;
  beforeAll(async () => {
    listening = await startListeningApp();
    const { port, shop } = listening;
    env = {
      MP_URL: `http://127.0.0.1:${port}`,
      MP_KEY_ID: shop.keyId,
      MP_SECRET: shop.secret,
      MP_PASSPHRASE: shop.passphrase,
    };
  });
  // The examples sign with the time that it is.
  beforeEach(() => {
    listening.service.clock.now = Date.now();
  });
  afterAll(() => listening.service.close());

  const payments = () =>
    listening.service.db.selectFrom('payments').selectAll().orderBy('id').execute();

  test('create one payment, however often it is run', async () => {
    const [line = ''] = await outputOf(start('Create a payment:', env));
    const [payment, ...others] = await payments();
    expect(others).toEqual([]);
    expect(payment).toMatchObject({ amount: 5000, customer_reference_id: 'order-1001' });
    expect(line).toMatch(new RegExp(`^${payment?.id} https://pay\\.example\\.test/checkout/\\S+$`));
    expect(await outputOf(start('Create a payment:', env))).toEqual([line]);
    expect(await payments()).toHaveLength(1);
  });

  test('poll until the payment is no longer pending', async () => {
    const { service, shop } = listening;
    const created_at = new Date(service.clock());
    const { id } = await addPayment(service.db, shop.merchant, { created_at });
    const reads = () =>
      service.logs.filter(({ route }) => route === '/external/v1/payments/:id').length;
    const child = start('Poll it', { ...env, PAYMENT_ID: id });
    await vi.waitUntil(() => reads() > 0, { timeout: PATIENCE_MS });
    expect(child.exitCode).toBeNull();
    await service.db
      .updateTable('payments')
      .set({ status: 'cancelled', session_status: 'cancelled' })
      .where('id', '=', id)
      .execute();
    expect(await outputOf(child)).toEqual([`${id} cancelled`]);
    expect(reads()).toBeGreaterThan(1);
  });

  test('of the README create a payment and poll it', async () => {
    const { service } = listening;
    const { db } = service;
    await db.updateTable('payments').set({ customer_reference_id: 'old' }).execute();
    await db.deleteFrom('idempotency_keys').execute();
    const child = start('create a payment and poll it', env);
    const own = () =>
      db
        .selectFrom('payments')
        .select('id')
        .where('customer_reference_id', '=', 'order-1001')
        .executeTakeFirst();
    const { id } = (await vi.waitUntil(own, { timeout: PATIENCE_MS })) ?? { id: '' };
    await db
      .updateTable('payments')
      .set({ status: 'cancelled', session_status: 'cancelled' })
      .where('id', '=', id)
      .execute();
    const [checkoutUrl, outcome] = await outputOf(child);
    expect(checkoutUrl).toMatch(/^https:\/\/pay\.example\.test\/checkout\/\S+$/);
    expect(outcome).toBe(`${id} cancelled`);
  });

  test('list every payment that was paid, over all pages', async () => {
    const { service, shop } = listening;
    const paid: string[] = [];
    for (let index = 0; index < 103; index++) {
      const created_at = new Date(service.clock() - index * 1000);
      const payment = await addPayment(service.db, shop.merchant, {
        created_at,
        paid_at: created_at,
        amount: 1000 + index,
        customer_reference_id: `paid-${index}`,
        status: 'successful',
        session_status: 'completed',
      });
      paid.push(`${payment.id} ${1000 + index} paid-${index}`);
    }
    expect(await outputOf(start('List all', env))).toEqual(paid);
  });

  test('end with the refusal when the key is wrong', async () => {
    const child = start('List all', { ...env, MP_PASSPHRASE: 'wrong' });
    const [err, [status]] = await Promise.all([text(child.stderr), once(child, 'close')]);
    expect(status).toBe(1);
    expect(err).toContain('PaymentsApiError');
    expect(err).toContain('E2004');
  });
});

describe.each(['with Fastify', 'node:http'] as const)('the webhook server %s', example => {
  const key = randomBytes(32);
  const event = {
    id: crypto.randomUUID(),
    object: 'event',
    type: 'payment_prompt.successful',
    createdAt: new Date().toISOString(),
    // Spelt as no serializer would: only the bytes themselves verify.
    data: { id: crypto.randomUUID(), note: 'Grüße' },
  };
  const body = JSON.stringify(event, null, 3);
  let child: Running;
  let url: string;
  let printed = '';
  beforeAll(async () => {
    const WEBHOOK_SECRET = `whsec_${key.toString('base64')}`;
    child = start(example, { WEBHOOK_SECRET, PORT: '0' });
    // Kept over the tests: afterEach ends only what a test starts.
    running.splice(0);
    child.stdout.on('data', data => {
      printed += data;
    });
    await vi.waitUntil(() => printed.includes('\n'), { timeout: PATIENCE_MS });
    const [, port] = /^http:\/\/\S+:(\d+)\n$/.exec(printed) ?? [];
    url = `http://127.0.0.1:${port}/hooks`;
  });
  beforeEach(() => {
    printed = '';
  });
  afterAll(() => child.kill());

  /** Posts a delivery as the service signs it, and sends `sent` in its place. */
  async function post(sent: string, ageSeconds = 0): Promise<number> {
    const timestamp = String(Math.floor(Date.now() / 1000) - ageSeconds);
    const signature = createHmac('sha256', key)
      .update(`${event.id}.${timestamp}.${body}`)
      .digest('base64');
    const response = await fetch(url, {
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        'webhook-id': event.id,
        'webhook-timestamp': timestamp,
        'webhook-signature': `v1,${signature}`,
      },
      body: sent,
    });
    await response.arrayBuffer();
    return response.status;
  }

  test('takes a signed delivery, and tells its event', async () => {
    expect(await post(body)).toBe(204);
    await vi.waitUntil(() => printed.includes('\n'), { timeout: PATIENCE_MS });
    expect(printed).toBe(`${event.id} payment_prompt.successful ${event.data.id}\n`);
  });

  test('refuses whatever else is sent, and goes on', async () => {
    expect(await post(body.replace('successful', 'cancelled'))).toBe(400);
    expect(await post(JSON.stringify(event))).toBe(400);
    expect(await post(`${body}\n`)).toBe(400);
    expect(await post(body, 301)).toBe(400);
    const unsigned = await fetch(url, { method: 'POST' });
    expect(unsigned.status).toBe(400);
    // Whoever still sends may find the connection closed before the answer is read.
    const large = await post('x'.repeat(2_000_000)).catch(() => 'cut off');
    expect([413, 'cut off']).toContain(large);
    expect(printed).toBe('');
    expect(await post(body)).toBe(204);
  });
});
