import { type ChildProcessByStdio, spawn } from 'node:child_process';
import { createHmac, randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { readFile, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import type { Readable, Writable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest';
import { newEvent } from '#payments/new-event.ts';
import type { PaymentEventType } from '#schemas/event.ts';
import { webhookHeaders } from '#signing/webhooks.ts';
import { insertEvent } from '#storage/repositories/payments/events.ts';
import {
  installClient,
  type Project,
  RUNTIMES,
  run,
} from '../../clients/javascript/installed-client.ts';
import { addMerchant, type MerchantWithKey } from '../../helpers/accounts.ts';
import { startTestApp, type TestApp } from '../../helpers/app.ts';
import { COMPILE_CACHE } from '../../helpers/compile-cache.ts';
import { addPayment } from '../../helpers/payments.ts';
import { freePort } from '../../helpers/redis-server.ts';

/** The examples run unchanged, in a project that has installed the client from the service. */

const ROOT = resolve(import.meta.dirname, '../../..');
const README = readFileSync(join(ROOT, 'README.md'), 'utf8');
/** Pages with examples in JavaScript, and parts of the sentences that introduce these. */
const EXAMPLES = {
  '/docs/quickstart.md': ['create.mjs', 'Read the payment.', 'hooks.mjs'],
  '/docs/webhooks.md': ['hooks.mjs', 'after an outage'],
  '/docs/client.md': ['Create a payment:', 'Poll it', 'List all', 'with Fastify', 'node:http'],
  '/docs/libraries.md': ['Save this as'],
  README: ['creates a payment and polls it'],
} as const;
/** The longest wait for what an example does, in milliseconds; only a bug makes it take so long. */
const PATIENCE_MS = 40_000;

type Example = (typeof EXAMPLES)[keyof typeof EXAMPLES][number];
type Running = ChildProcessByStdio<Writable, Readable, Readable>;

let service: TestApp;
let origin: string;
let shop: MerchantWithKey;
let project: Project;
let env: Record<string, string>;
/** The code of the examples, by the sentences that introduce them. */
const codes = new Map<Example, string>();

beforeAll(async () => {
  const port = await freePort();
  origin = `http://127.0.0.1:${port}`;
  service = await startTestApp({ env: { PUBLIC_URL: origin } });
  shop = await addMerchant(service);
  env = {
    MP_URL: origin,
    MP_KEY_ID: shop.keyId,
    MP_SECRET: shop.secret,
    MP_PASSPHRASE: shop.passphrase,
  };
  for (const [page, sentences] of Object.entries(EXAMPLES)) {
    const markdown = page === 'README' ? README : await read(page);
    const blocks = [...markdown.matchAll(/^([^\n]+)\n\n```js\n(.*?)^```$/gms)];
    expect(blocks.length, page).toBe(sentences.length);
    for (const [index, sentence] of sentences.entries()) {
      const [, introduction, code = ''] = blocks[index] ?? [];
      expect(introduction).toContain(sentence);
      codes.set(sentence, code);
    }
  }
  await service.app.listen({ host: '127.0.0.1', port });
  const [, command = ''] =
    /```sh\n(npm install .*)\n```/.exec(await read('/docs/quickstart.md')) ?? [];
  expect(command).toBe(`npm install ${origin}/client.tgz`);
  project = await installClient(command);
  await project.link('fastify');
  await project.link('@types/node');
});
// The examples sign with the real time.
beforeEach(() => {
  service.clock.now = Date.now();
});
afterAll(async () => {
  await project?.remove();
  await service.close();
});

async function read(page: string): Promise<string> {
  return (await service.app.inject({ url: page })).body;
}

const running: Running[] = [];

/** Starts an example as a module of the project. */
function start(program: string, example: Example, env: Record<string, string>): Running {
  const child = spawn(program, ['--input-type=module', '-'], {
    cwd: project.directory,
    env: { PATH: process.env.PATH, ...COMPILE_CACHE, ...env },
    stdio: ['pipe', 'pipe', 'pipe'],
  });
  running.push(child);
  child.stdin.end(codes.get(example));
  return child;
}

/** Runs an example to its end; returns the lines that it printed. */
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

const payments = ({ merchant }: MerchantWithKey = shop) =>
  service.db
    .selectFrom('payments')
    .selectAll()
    .where('merchant_id', '=', merchant.id)
    .orderBy('id')
    .execute();

/** Ends a payment while an example polls it. */
async function cancel(id: string): Promise<void> {
  await service.db
    .updateTable('payments')
    .set({ status: 'cancelled', session_status: 'cancelled' })
    .where('id', '=', id)
    .execute();
}

describe('the examples', () => {
  beforeEach(async () => {
    // Each starts with a shop that has sold nothing.
    await service.db.updateTable('payments').set({ customer_reference_id: 'old' }).execute();
    await service.db.deleteFrom('idempotency_keys').execute();
  });

  test.for(RUNTIMES)(
    'of the quickstart create one payment and read it, on $name',
    async ({ program }, { skip }) => {
      if (program === undefined) return skip();
      const before = (await payments()).length;
      const outputs = [
        await outputOf(start(program, 'create.mjs', env)),
        await outputOf(start(program, 'create.mjs', env)),
      ];
      const [created, again] = outputs.map(lines => JSON.parse(lines.join('\n')));
      expect(again).toEqual(created);
      const all = await payments();
      expect(all).toHaveLength(before + 1);
      expect(all.at(-1)).toMatchObject({ amount: 5000, customer_reference_id: 'order-1001' });
      expect(created).toMatchObject({ prompt: { id: all.at(-1)?.id, status: 'pending' } });
      expect(created.checkoutUrl).toMatch(new RegExp(`^${origin}/checkout/\\S+$`));
      const found = await outputOf(start(program, 'Read the payment.', env));
      expect(JSON.parse(found.join('\n'))).toEqual(created.prompt);
    },
  );

  test('of the libraries create one payment and read it', async () => {
    const [checkoutUrl, read] = await outputOf(start(process.execPath, 'Save this as', env));
    expect(checkoutUrl).toMatch(new RegExp(`^${origin}/checkout/\\S+$`));
    expect(read).toBe(`${(await payments()).at(-1)?.id} pending`);
  });

  // Both wait for their next poll, so they run concurrently.
  test('of the client and of the README create a payment and poll it', async () => {
    await Promise.all([createAndPoll(), createAndPollAsReadme()]);
  });

  async function createAndPoll(): Promise<void> {
    const [line = ''] = await outputOf(start(process.execPath, 'Create a payment:', env));
    const { id = '' } = (await payments()).at(-1) ?? {};
    expect(line).toMatch(new RegExp(`^${id} ${origin}/checkout/\\S+$`));
    const reads = () =>
      service.logs.filter(
        ({ route, keyId }) => route === '/external/v1/payments/:id' && keyId === shop.keyId,
      ).length;
    const before = reads();
    const child = start(process.execPath, 'Poll it', env);
    await vi.waitUntil(() => reads() > before, { timeout: PATIENCE_MS });
    expect(child.exitCode).toBeNull();
    await cancel(id);
    expect(await outputOf(child)).toEqual([`${id} cancelled`]);
  }

  async function createAndPollAsReadme(): Promise<void> {
    const other = await addMerchant(service);
    const child = start(process.execPath, 'creates a payment and polls it', {
      MP_URL: origin,
      MP_KEY_ID: other.keyId,
      MP_SECRET: other.secret,
      MP_PASSPHRASE: other.passphrase,
    });
    const own = async () => (await payments(other)).at(0);
    const { id } = (await vi.waitUntil(own, { timeout: PATIENCE_MS })) ?? { id: '' };
    await cancel(id);
    const [checkoutUrl, outcome] = await outputOf(child);
    expect(checkoutUrl).toMatch(new RegExp(`^${origin}/checkout/\\S+$`));
    expect(outcome).toBe(`${id} cancelled`);
  }

  test('of the client list every paid payment, over all pages', async () => {
    const rich = await addMerchant(service);
    const paid: string[] = [];
    for (let index = 0; index < 103; index++) {
      const created_at = new Date(service.clock() - index * 1000);
      const payment = await addPayment(service.db, rich.merchant, {
        created_at,
        paid_at: created_at,
        amount: 1000 + index,
        customer_reference_id: `paid-${index}`,
        status: 'successful',
        session_status: 'completed',
      });
      paid.push(`${payment.id} ${1000 + index} paid-${index}`);
    }
    const own = { MP_KEY_ID: rich.keyId, MP_SECRET: rich.secret, MP_PASSPHRASE: rich.passphrase };
    expect(await outputOf(start(process.execPath, 'List all', { ...env, ...own }))).toEqual(paid);
  });

  test('of the webhooks process the events since the last one, and store it', async () => {
    const rich = await addMerchant(service);
    const own = { MP_KEY_ID: rich.keyId, MP_SECRET: rich.secret, MP_PASSPHRASE: rich.passphrase };
    const created_at = new Date(service.clock());
    const payment = await addPayment(service.db, rich.merchant, { created_at });
    const tell = async (type: PaymentEventType, secondsAgo: number) => {
      const event = newEvent(type, payment, new Date(service.clock() - secondsAgo * 1000));
      await insertEvent(service.db, event);
      return `${event.id} ${type} ${payment.id}`;
    };
    const reconcile = () =>
      outputOf(start(process.execPath, 'after an outage', { ...env, ...own }));
    const first = await tell('payment_prompt.created', 600);
    const second = await tell('payment_prompt.detected', 300);
    expect(await reconcile()).toEqual([first, second]);
    const third = await tell('payment_prompt.successful', 0);
    expect(await reconcile()).toEqual([third]);
    const [id] = third.split(' ');
    expect(await readFile(join(project.directory, 'last-event'), 'utf8')).toBe(id);
  });

  test('end with the refusal when the key is wrong', async () => {
    const child = start(process.execPath, 'List all', { ...env, MP_PASSPHRASE: 'wrong' });
    const [err, [status]] = await Promise.all([text(child.stderr), once(child, 'close')]);
    expect(status).toBe(1);
    expect(err).toContain('PaymentsApiError');
    expect(err).toContain('E2004');
  });
});

/** A program that compiles only if its types are those of the service. */
const TYPED = `
import { createClient, PaymentsApiError, type PaymentObject, type RecordedEvent, type WebhookEvent } from 'external-payments-client';

declare const process: { readonly env: Readonly<Record<string, string | undefined>> };
declare const console: { log(...values: unknown[]): void };

const { MP_URL: baseUrl = '', MP_KEY_ID: keyId = '', MP_SECRET: secret = '', MP_PASSPHRASE: passphrase = '' } = process.env;
const payments = createClient({ baseUrl, keyId, secret, passphrase });
const note: string | undefined = undefined;
const { prompt } = await payments.createPayment({ amount: 5000, note, blockchainIds: ['btc', 'eth'] });
const amount: number = prompt.amount;
console.log(\`created \${amount}\`);
const offered: string[] = (await payments.activeBlockchains()).map(({ id }) => id);
console.log(offered.filter(id => id === 'btc' || id === 'eth').join(', '));
await payments.getPayment('01890000-0000-7000-8000-000000000000').catch((error: unknown) => {
  if (error instanceof PaymentsApiError) console.log(\`\${error.errorCode} \${error.status}\`);
});

for await (const event of payments.events({ after: new Date(0), delivered: false })) {
  console.log(idOf(event), event.deliveries.flatMap(({ attempts }) => attempts).length);
}

// @ts-expect-error: only events that were not delivered can be asked for.
export const delivered = () => payments.listEvents({ delivered: true });
// @ts-expect-error: an amount is an integer of cents.
await payments.createPayment({ amount: '5000' }).catch(() => undefined);
// @ts-expect-error: there is no such network.
export const none = () => payments.createPayment({ amount: 5000, blockchainIds: ['doge'] });
// @ts-expect-error: there is no such status.
export const isPaid = ({ status }: PaymentObject) => status === 'paid';
export function idOf(event: WebhookEvent | RecordedEvent): string | null {
  if (event.type === 'payment_prompt.deposit_unmatched') return event.data.transactionHash;
  return event.data.externalId;
}
`;

const STRICT = {
  target: 'es2022',
  strict: true,
  exactOptionalPropertyTypes: true,
  noUncheckedIndexedAccess: true,
  verbatimModuleSyntax: true,
  skipLibCheck: false,
};

/** Compiler options by module resolution: with the types of Node.js, or of browsers. */
const COMPILERS = {
  nodenext: { module: 'nodenext', lib: ['es2022'], types: ['node'] },
  bundler: { module: 'esnext', moduleResolution: 'bundler', types: [], noEmit: true },
} as const;

/** Compiles the typed program, and for Node.js also the guide's handler, into programs next to them. */
async function compile(kind: keyof typeof COMPILERS): Promise<string> {
  const path = (name: string) => join(project.directory, name);
  const [, receive = ''] = /```ts\n(.*?)^```$/ms.exec(await read('/docs/webhooks.md')) ?? [];
  await writeFile(path('typed.mts'), TYPED);
  await writeFile(path('receive.mts'), receive);
  const files = kind === 'nodenext' ? ['typed.mts', 'receive.mts'] : ['typed.mts'];
  const config = { compilerOptions: { ...STRICT, ...COMPILERS[kind] }, files };
  await writeFile(path(`${kind}.json`), JSON.stringify(config));
  const args = [join(ROOT, 'node_modules/typescript/bin/tsc'), '-p', path(`${kind}.json`)];
  return (await run(process.execPath, args).catch(error => error)).stdout;
}

test('strict TypeScript accepts the client with a bundler’s resolution', async () => {
  expect(await compile('bundler')).toBe('');
});

describe('strict TypeScript accepts the client with the resolution of Node.js', () => {
  beforeAll(async () => {
    expect(await compile('nodenext')).toBe('');
  });

  test.for(RUNTIMES)('and $name runs the compiled program', async ({ program }, { skip }) => {
    if (program === undefined) return skip();
    const options = { cwd: project.directory, env };
    const { stdout } = await run(program, ['typed.mjs'], options);
    expect(stdout).toBe('created 5000\nbtc, eth\nE3001 404\n');
  });

  test('and the guide’s handler accepts our webhooks, and no others', async () => {
    const secret = `whsec_${randomBytes(32).toString('base64')}`;
    const body = JSON.stringify({ id: 'e', type: 'payment_prompt.created', data: { id: 'p' } });
    const timestamp = String(Math.floor(Date.now() / 1000));
    const headers = JSON.stringify(webhookHeaders([secret], { id: 'e', timestamp, body }));
    const asking = `
      import { receive } from './receive.mjs';
      for (const body of process.argv.slice(2)) {
        const message = { method: 'POST', headers: ${headers}, body };
        console.log((await receive(new Request('http://shop/', message))).status);
      }`;
    await writeFile(join(project.directory, 'asking.mjs'), asking);
    const { stdout } = await run(process.execPath, ['asking.mjs', body, `${body} `], {
      cwd: project.directory,
      env: { WEBHOOK_SECRET: secret },
    });
    expect(stdout).toBe('e payment_prompt.created p\n204\n400\n');
  });
});

describe.each(['with Fastify', 'hooks.mjs'] as const)('the webhook server %s', example => {
  const key = randomBytes(32);
  const event = {
    id: crypto.randomUUID(),
    object: 'event',
    type: 'payment_prompt.successful',
    createdAt: new Date().toISOString(),
    // Formatted as no serializer would: only the raw bytes verify.
    data: { id: crypto.randomUUID(), note: 'Grüße' },
  };
  const body = JSON.stringify(event, null, 3);
  let child: Running;
  let url: string;
  let printed = '';
  beforeAll(async () => {
    const WEBHOOK_SECRET = `whsec_${key.toString('base64')}`;
    child = start(process.execPath, example, { WEBHOOK_SECRET, PORT: '0' });
    // Keeps it running over the tests: afterEach stops only what a test has started.
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

  /** Signs a delivery as the service does, but posts `sent` instead. */
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

  test('accepts a signed delivery, and prints its event', async () => {
    expect(await post(body)).toBe(204);
    await vi.waitUntil(() => printed.includes('\n'), { timeout: PATIENCE_MS });
    expect(printed).toBe(`${event.id} payment_prompt.successful ${event.data.id}\n`);
  });

  test('refuses anything else, and keeps running', async () => {
    expect(await post(body.replace('successful', 'cancelled'))).toBe(400);
    expect(await post(JSON.stringify(event))).toBe(400);
    expect(await post(`${body}\n`)).toBe(400);
    expect(await post(body, 301)).toBe(400);
    const unsigned = await fetch(url, { method: 'POST' });
    expect(unsigned.status).toBe(400);
    // A client that is still sending may find the connection closed before it reads the response.
    const large = await post('x'.repeat(2_000_000)).catch(() => 'cut off');
    expect([413, 'cut off']).toContain(large);
    expect(printed).toBe('');
    expect(await post(body)).toBe(204);
  });
});
