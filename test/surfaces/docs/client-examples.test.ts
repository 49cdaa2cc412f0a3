import { type ChildProcessByStdio, spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { symlink, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import type { Readable, Writable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest';
import { webhookHeaders } from '#signing/webhooks.ts';
import { RUNTIMES, run } from '../../clients/javascript/installed-client.ts';
import { addMerchant, type MerchantWithKey } from '../../helpers/accounts.ts';
import type { TestApp } from '../../helpers/app.ts';
import { COMPILE_CACHE } from '../../helpers/compile-cache.ts';
import { freePort } from '../../helpers/redis-server.ts';
import { openPage, type PastedPage, startProduction } from './pasted-page.ts';
import { expectVerifies } from './webhook-receiver.ts';

/** The examples run unchanged, in a project that has installed the client from the service. */

const ROOT = resolve(import.meta.dirname, '../../..');
/** The longest wait for what an example does, in milliseconds; only a bug makes it take so long. */
const PATIENCE_MS = 40_000;

type Running = ChildProcessByStdio<Writable, Readable, Readable>;

let service: TestApp;
let origin: string;
let page: PastedPage;
beforeAll(async () => {
  ({ service, origin } = await startProduction());
  page = await openPage(service, 'javascript');
  // As if they were installed.
  for (const name of ['fastify', '@types'])
    await symlink(join(ROOT, 'node_modules', name), join(page.directory, 'node_modules', name));
});
// The examples sign with the real time.
beforeEach(() => {
  service.clock.now = Date.now();
});
afterAll(async () => {
  await page?.close();
  await service.close();
});

const read = async (path: string): Promise<string> =>
  (await service.app.inject({ url: path })).body;

const running: Running[] = [];

/** Starts an example as a module of the project. */
function start(code: string, env: Record<string, string>): Running {
  const child = spawn(process.execPath, ['--input-type=module', '-'], {
    cwd: page.directory,
    env: { PATH: process.env.PATH, ...COMPILE_CACHE, ...env },
    stdio: ['pipe', 'pipe', 'pipe'],
  });
  running.push(child);
  child.stdin.end(code);
  return child;
}

afterEach(() => {
  for (const child of running.splice(0)) child.kill();
});

const variables = ({ keyId, secret, passphrase }: MerchantWithKey) => ({
  MP_URL: origin,
  MP_KEY_ID: keyId,
  MP_SECRET: secret,
  MP_PASSPHRASE: passphrase,
});

test('the page for JavaScript keeps its promises, pasted into an empty directory', () =>
  page.pasteOthers());

test('the quickstart keeps its promises, pasted into an empty directory', async () => {
  const quickstart = await openPage(service, 'quickstart');
  await quickstart.pasteOthers().finally(() => quickstart.close());
});

test('the program of the README creates a payment and polls it', async () => {
  const readme = readFileSync(join(ROOT, 'README.md'), 'utf8');
  const [, program = ''] =
    /creates a payment and polls it\.\n\n```js\n(.*?)^```$/ms.exec(readme) ?? [];
  const shop = await addMerchant(service);
  const child = start(program, variables(shop));
  const output = Promise.all([text(child.stdout), text(child.stderr), once(child, 'close')]);
  const find = () =>
    service.db
      .selectFrom('payments')
      .select('id')
      .where('merchant_id', '=', shop.merchant.id)
      .executeTakeFirst();
  const { id } = (await vi.waitUntil(find, { timeout: PATIENCE_MS })) ?? { id: '' };
  await service.db
    .updateTable('payments')
    .set({ status: 'cancelled', session_status: 'cancelled' })
    .where('id', '=', id)
    .execute();
  const [out, err, [status]] = await output;
  expect({ status, err }).toEqual({ status: 0, err: '' });
  expect(out).toMatch(
    new RegExp(`^https://pay\\.example\\.test/checkout/\\S+\n${id} cancelled\n$`),
  );
});

test('the server with Fastify verifies webhooks', async () => {
  const [, server = ''] =
    /With Fastify:\n\n```js\n(.*?)^```$/ms.exec(await read('/docs/javascript.md')) ?? [];
  const port = await freePort();
  const secret = `whsec_${randomBytes(32).toString('base64')}`;
  start(server.replace('8080', String(port)), { WEBHOOK_SECRET: secret });
  await expectVerifies(`http://127.0.0.1:${port}/hooks`, secret);
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
  const path = (name: string) => join(page.directory, name);
  const [, receive = ''] = /```ts\n(.*?)^```$/ms.exec(await read('/docs/javascript.md')) ?? [];
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
    const env = variables(await addMerchant(service));
    const options = { cwd: page.directory, env };
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
    await writeFile(join(page.directory, 'asking.mjs'), asking);
    const { stdout } = await run(process.execPath, ['asking.mjs', body, `${body} `], {
      cwd: page.directory,
      env: { WEBHOOK_SECRET: secret },
    });
    expect(stdout).toBe('e payment_prompt.created p\n204\n400\n');
  });
});
