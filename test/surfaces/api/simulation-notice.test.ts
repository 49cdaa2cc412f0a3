import { afterAll, beforeAll, expect, test } from 'vitest';
import { addMerchant } from '../../helpers/accounts.ts';
import { startTestApp, type TestApp } from '../../helpers/app.ts';
import { createPrompt } from '../../helpers/prompts.ts';

const NOTICE = 'Simulation: payments can be marked as paid without money.';

let simulating: TestApp;
let real: TestApp;
/** Paths of pages of every kind. */
let pages: string[];
beforeAll(async () => {
  simulating = await startTestApp();
  real = await startTestApp({ beside: simulating, env: { SIMULATION: 'off' } });
  const pathOf = async (kind: 'standard' | 'us') => {
    const shop = await addMerchant(simulating, { kind });
    const { checkoutUrl } = await createPrompt(simulating, shop, { amount: 5000 });
    return new URL(checkoutUrl).pathname;
  };
  pages = [
    await pathOf('standard'),
    `/checkout/${'A'.repeat(43)}`,
    '/checkout/%ff',
    await pathOf('us'),
    '/processor/sandbox/unknown',
    '/processor/done',
    '/docs',
    '/docs/errors/E1001',
    '/docs/missing',
    '/',
  ];
});
afterAll(async () => {
  await real.close();
  await simulating.close();
});

const open = async ({ app }: TestApp, url: string) =>
  (await app.inject({ url, headers: { accept: 'text/html' } })).body;

test('every page of a service that simulates says so', async () => {
  for (const page of pages) expect(await open(simulating, page), page).toContain(NOTICE);
});

test('no page of any other service does', async () => {
  for (const page of pages) expect(await open(real, page), page).not.toContain(NOTICE);
});
