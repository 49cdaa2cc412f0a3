import { compileClients, type Generator } from './generated-clients.ts';

/**
 * `npm run check:clients`: compiles the clients of generators that are too large to install with the
 * service. npx downloads these versions, so it needs the network; no test and no check calls it.
 */

/** The longest that npx, a generator or the compiler may take, in milliseconds. */
const PATIENCE_MS = 300_000;

const GENERATORS: Readonly<Record<string, Generator>> = {
  'hey-api': {
    command: [
      ...(['npx', '--yes'] as const),
      // It generates code with the compiler's API, which TypeScript 7 no longer has.
      ...['--package=@hey-api/openapi-ts@0.99.0', '--package=typescript@5.9.3', '--'],
      ...['openapi-ts', '--input', '../openapi.json', '--output', '.'],
      ...['--client', '@hey-api/client-fetch', '--silent'],
    ],
    use: `
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
  },
  orval: {
    command: [
      ...(['npx', '--yes', '--package=orval@8.38.0', '--'] as const),
      ...['orval', '--input', '../openapi.json', '--output', 'client.ts', '--client', 'fetch'],
    ],
    use: `
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
  },
};

for (const [name, generator] of Object.entries(GENERATORS)) {
  const complaints = await compileClients([generator], PATIENCE_MS);
  process.stdout.write(`${name}: ${complaints === '' ? 'compiles under strict\n' : complaints}`);
  if (complaints !== '') process.exitCode = 1;
}
