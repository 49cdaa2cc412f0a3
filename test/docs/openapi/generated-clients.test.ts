import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { buildInertApp } from './inert-app.ts';

/** Clients that generators in wide use make of the document, compiled as a merchant would compile them. */

const run = promisify(execFile);
const MODULES = join(import.meta.dirname, '../../../node_modules');
const TYPESCRIPT_5 = new URL('./typescript-5.ts', import.meta.url).href;
/** Longest that a generator or the compiler may take, in milliseconds, on a busy machine. */
const PATIENCE_MS = 45_000;

/** What a merchant's compiler has switched on; `types` keeps those of this repository out. */
const TSCONFIG = {
  compilerOptions: {
    ...{ strict: true, noEmit: true, types: [], skipLibCheck: false },
    ...{ target: 'es2024', lib: ['es2024', 'dom', 'dom.iterable'] },
    ...{ module: 'esnext', moduleResolution: 'bundler', noUncheckedIndexedAccess: true },
  },
};

const GENERATORS = {
  'openapi-typescript': ['openapi-typescript', '../openapi.json', '--output', 'client.ts'],
  'hey-api': [
    ...['openapi-ts', '--input', '../openapi.json', '--output', '.'],
    ...['--client', '@hey-api/client-fetch', '--silent'],
  ],
  orval: ['orval', '--input', '../openapi.json', '--output', 'client.ts', '--client', 'fetch'],
} as const;
type Generator = keyof typeof GENERATORS;

/** Code that uses each client. What has to be refused shows that the types are not `any`. */
const USES: Readonly<Record<Generator, string>> = {
  'openapi-typescript': `
import type { components, operations, webhooks } from './client';
type Body = operations['createPayment']['requestBody']['content']['application/json'];
export const body: Body = { amount: 5000, blockchainIds: ['eth-usdc'] };
// @ts-expect-error
export const wrong: Body = { amount: '5000' };
export const status = (payment: components['schemas']['Payment']): 'pending' | string => payment.status;
type Event = webhooks['payment_prompt.successful']['post']['requestBody']['content']['application/json'];
export const paidAt = ({ data }: Event): string | null => data.paidAt;
// @ts-expect-error
export const missing = ({ data }: Event): unknown => data.nothing;
`,
  'hey-api': `
import { createPayment, listPayments } from './index';
const headers = { 'Idempotency-Key': 'order-1001' };
export const created = await createPayment({ body: { amount: 5000 }, headers });
export const url: string | undefined = created.data?.checkoutUrl;
// @ts-expect-error
await createPayment({ body: { amount: '5000' } });
const { data, error } = await listPayments({ query: { limit: 5, status: 'successful' } });
export const code: string | undefined = error?.error.errorCode;
for (const { id, amount } of data?.data ?? []) console.log(id.length, amount + 1);
// @ts-expect-error
await listPayments({ query: { status: 'paid' } });
`,
  orval: `
import { createPayment, listPayments } from './client';
const headers = { 'Idempotency-Key': 'order-1001' };
const created = await createPayment({ amount: 5000 }, { headers });
if (created.status === 201) console.log(created.data.checkoutUrl.length);
else console.log(created.data.error.errorCode.length);
// @ts-expect-error
await createPayment({ amount: '5000' });
const list = await listPayments({ limit: 5, status: 'successful' });
if (list.status === 200) for (const { amount } of list.data.data) console.log(amount + 1);
// @ts-expect-error
await listPayments({ status: 'paid' });
`,
};

let directory: string;
beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'eps-clients-'));
  const app = await buildInertApp();
  const { body } = await app.inject({ url: '/openapi.json' });
  await app.close();
  await writeFile(join(directory, 'openapi.json'), body);
  await writeFile(join(directory, 'tsconfig.json'), JSON.stringify(TSCONFIG));
});
afterAll(() => rm(directory, { recursive: true, force: true }));

async function generate(name: Generator): Promise<void> {
  const cwd = join(directory, name);
  await mkdir(cwd);
  const [command, ...argv] = GENERATORS[name];
  const env = { PATH: process.env.PATH, NODE_OPTIONS: `--import=${TYPESCRIPT_5}` };
  await run(join(MODULES, '.bin', command), argv, { cwd, env, timeout: PATIENCE_MS });
  await writeFile(join(cwd, 'use.ts'), USES[name]);
}

test(
  'clients of openapi-typescript, hey-api and orval compile under strict',
  async () => {
    const names = Object.keys(GENERATORS) as Generator[];
    await Promise.all(names.map(generate));
    const compiled = await run(join(MODULES, '.bin/tsc'), ['--project', directory], {
      timeout: PATIENCE_MS,
    }).catch(({ stdout, stderr }) => ({ stdout, stderr }));
    expect(compiled).toEqual({ stdout: '', stderr: '' });
  },
  2 * PATIENCE_MS,
);
