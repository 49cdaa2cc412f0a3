import { randomBytes } from 'node:crypto';
import type { AddressInfo } from 'node:net';
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { setNetwork } from '#accounts/networks.ts';
import type { TransactionOnChain } from '#onchain/watching/look-up/look-up.ts';
import { updateChain } from '#storage/repositories/chains/chains.ts';
import { ADDRESSES, addMerchant, operatorOf } from '../helpers/accounts.ts';
import { startTestApp, type TestApp } from '../helpers/app.ts';
import { ASKS_OFTEN, launchBrowser, NARROW, windowOf } from '../helpers/browser.ts';
import { type OpenedCheckout, openCheckout } from '../helpers/checkout.ts';
import { seeTransfer } from '../helpers/see-transfer.ts';
import { watchNetworks } from '../helpers/watch-networks.ts';
import { expectAccessible, type SeenKinds } from './accessible.ts';

/** The checkout with chains watched by nodes. */

const CENT_ETH = 10_000_000_000_000_000n;

const seenKinds: SeenKinds = new Set();
let service: TestApp;
let browser: Browser;
let base: string;
let answer: TransactionOnChain | null = null;

beforeAll(async () => {
  service = await startTestApp({
    env: { SIMULATION: 'off' },
    lookUps: { ask: async () => answer, close: () => Promise.resolve() },
  });
  await setNetwork(operatorOf(service), 'eth', { explorer: 'https://explorer.example/tx/{hash}' });
  await service.app.listen({ host: '127.0.0.1', port: 0 });
  base = `http://127.0.0.1:${(service.app.server.address() as AddressInfo).port}`;
  browser = await launchBrowser();
});
afterAll(async () => {
  await browser?.close();
  await service?.close();
});
beforeEach(async () => {
  const now = service.clock();
  await watchNetworks(service.db, ['eth'], new Date(now));
  // Bitcoin's watcher is behind.
  await watchNetworks(service.db, ['btc'], new Date(now - 3_600_000));
  await updateChain(service.db, 'eth', { head_height: 104 });
});

async function open(): Promise<OpenedCheckout> {
  const eth = `0x${randomBytes(20).toString('hex')}`;
  const addresses = { btc: ADDRESSES.btc, eth };
  return openCheckout(service, await addMerchant(service, { name: 'Corner Shop', addresses }));
}

/** Opens a checkout on the narrowest screen, and expects the result to be accessible. */
async function visit(path: string, act: (page: Page) => Promise<void>): Promise<void> {
  const context = await browser.newContext(windowOf({ viewport: NARROW }));
  try {
    const page = await context.newPage();
    page.setDefaultTimeout(30_000);
    await page.addInitScript(ASKS_OFTEN);
    await page.goto(base + path);
    await act(page);
    await expectAccessible(page, seenKinds);
  } finally {
    await context.close();
  }
}

test('a network that is not watched in time cannot be chosen', async () => {
  const checkout = await open();
  await visit(checkout.path, async page => {
    const bitcoin = page.getByRole('button', { name: 'Bitcoin' });
    expect(await bitcoin.isDisabled()).toBe(true);
    expect(await bitcoin.innerText()).toContain('not available just now');
    expect(await page.getByRole('button', { name: 'Ether' }).isEnabled()).toBe(true);
  });
});

test('blocks are counted without reloading, and screen readers do not announce each', async () => {
  const checkout = await open();
  await checkout.pick('eth');
  await visit(checkout.path, async page => {
    await seeTransfer(service, checkout, 100);
    await page.getByText('Blocks: 5 of 12.').waitFor();
    await page.evaluate('document.getElementById("announcer").textContent = ""');
    await updateChain(service.db, 'eth', { head_height: 105 });
    await page.getByText('Blocks: 6 of 12.').waitFor();
    expect(await page.locator('#announcer').innerText()).toBe('');
    const link = page.getByRole('link', { name: /^See it on explorer.example/ });
    expect(await link.getAttribute('rel')).toBe('noreferrer noopener');
  });
});

test('a delay, an underpayment, its rest and an overpayment are distinguished', async () => {
  const checkout = await open();
  await checkout.pick('eth');
  await visit(checkout.path, async page => {
    const transactionHash = await seeTransfer(service, checkout, 100, { tokenAmount: CENT_ETH });
    await page.locator('#problem', { hasText: 'nothing more now' }).waitFor();
    const final = { transactionHash, tokenAmount: CENT_ETH, finality: 'final' } as const;
    await seeTransfer(service, checkout, 100, final);
    await page.getByText('Too little has arrived.', { exact: true }).waitFor();
    await watchNetworks(service.db, ['eth'], new Date(service.clock() - 3_600_000));
    await page.getByText('are seen with a delay just now').waitFor();
    await page.getByRole('button', { name: 'Copy amount' }).click();
    const copied = await page.evaluate('navigator.clipboard.readText()');
    expect(await page.locator('h1').innerText()).toContain(`Send ${copied}\u00a0ETH more`);

    const transfers = page.locator('.transfers li');
    expect(await transfers.allInnerTexts()).toEqual([
      expect.stringContaining('The first part of this order. The rest is still due.'),
    ]);
    const rest = BigInt(String(copied).replace('.', '').padEnd(19, '0'));
    await seeTransfer(service, checkout, 101, { tokenAmount: rest, finality: 'final' });
    await page.getByText('The rest: it completes this order.').waitFor();
    const again = await seeTransfer(service, checkout, 102, { finality: 'final' });
    // A page in a final state stops polling.
    await page.reload();
    const copy = transfers.last().getByRole('button', { name: 'Copy transaction' });
    await copy.click();
    expect(await page.evaluate('navigator.clipboard.readText()')).toBe(again);
    const ends = [again.slice(0, 10), again.slice(-8)].join('…');
    const link = page.getByRole('link', { name: `${ends} (See it on explorer.example` });
    expect(await link.getAttribute('href')).toBe(`https://explorer.example/tx/${again}`);
  });
});

test('the chain is searched for a transaction that nobody has seen', async () => {
  const checkout = await open();
  await checkout.pick('eth');
  const { address, token_amount: amount } = await checkout.payment();
  answer = {
    verdict: 'included',
    confirmations: 3,
    required: 12,
    occurredAt: new Date(service.clock()),
    transfers: [
      {
        blockchainId: 'eth',
        position: 0,
        address: address ?? '',
        tokenAmount: BigInt(amount ?? 0),
        depositId: null,
        paymentId: null,
        outcome: null,
        state: null,
        isOtherwise: false,
      },
    ],
  };
  await visit(checkout.path, async page => {
    await page.getByText('Already sent it?').click();
    await page.getByLabel('Transaction hash').fill(`0x${'ab'.repeat(32)}`);
    await page.getByRole('button', { name: 'Look up' }).click();
    await page.getByText('Blocks: 3 of 12. It will be counted shortly').waitFor();
  });
});
