import { join } from 'node:path';
import { expect, test } from 'vitest';
import { compileClients, type Generator } from './generated-clients.ts';

/** The longest that the generator or the compiler may take, in milliseconds, on a busy machine. */
const PATIENCE_MS = 45_000;

/** The reference for most others; `npm run check:clients` tries more. */
const OPENAPI_TYPESCRIPT: Generator = {
  command: [
    join(
      import.meta.dirname,
      '../../../../node_modules/client-generator/node_modules/.bin/openapi-typescript',
    ),
    ...['../openapi.json', '--output', 'client.ts'],
  ],
  use: `
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
};

test(
  'a client of openapi-typescript compiles under strict',
  async () => {
    expect(await compileClients([OPENAPI_TYPESCRIPT], PATIENCE_MS)).toBe('');
  },
  2 * PATIENCE_MS,
);
