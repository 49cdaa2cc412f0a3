import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Browser, BrowserContextOptions, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { expirePayments } from '#onchain/settlement/expire-on-chain.ts';
import { LANGUAGE_TAGS } from '#surfaces/checkout/page/texts/languages.ts';
import { ADDRESSES, addMerchant, type MerchantWithKey } from '../helpers/accounts.ts';
import { startTestApp, type TestApp } from '../helpers/app.ts';
import { ASKS_OFTEN, DESKTOP, launchBrowser, NARROW, PHONE, windowOf } from '../helpers/browser.ts';
import { type OpenedCheckout, openCheckout } from '../helpers/checkout.ts';
import { expectAccessible, expectToFit, type SeenKinds } from './accessible.ts';

/** Ten networks and more, all with existing addresses. */
const EVERYWHERE = {
  ...ADDRESSES,
  'eth-usdt': ADDRESSES.eth,
  bnb: ADDRESSES.eth,
  avax: ADDRESSES.eth,
  'eth-usdc-test': ADDRESSES.eth,
};

const seenKinds: SeenKinds = new Set();
let service: TestApp;
let shop: MerchantWithKey;
let browser: Browser;
let merchantSite: Server;
/** Paths that browsers were redirected to. */
const returns: string[] = [];
let base: string;
let returnBase: string;

beforeAll(async () => {
  service = await startTestApp();
  shop = await addMerchant(service, {
    name: 'Corner Shop',
    domains: ['127.0.0.1'],
    addresses: { btc: ADDRESSES.btc, eth: ADDRESSES.eth, 'eth-usdc': ADDRESSES['eth-usdc'] },
  });
  await service.app.listen({ host: '127.0.0.1', port: 0 });
  base = addressOf(service.app.server);
  merchantSite = createServer((request, response) => {
    returns.push(request.url ?? '');
    response.setHeader('content-type', 'text/html');
    response.end(
      '<!doctype html><link rel="icon" href="data:,"><title>Shop</title><h1>Thanks</h1>',
    );
  }).listen(0, '127.0.0.1');
  await once(merchantSite, 'listening');
  returnBase = addressOf(merchantSite);
  browser = await launchBrowser();
});

afterAll(async () => {
  await browser?.close();
  merchantSite?.close();
  await service?.close();
});

function addressOf(server: { address(): AddressInfo | string | null }): string {
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

function open(): Promise<OpenedCheckout> {
  return openCheckout(service, shop, { redirectUrl: `${returnBase}/thanks?order=7#top` });
}

interface Visit {
  readonly page: Page;
  /** Console errors and requests to other origins so far. */
  readonly trouble: string[];
}

/**
 * "Paid" is shown for five ticks. They come ten times as often, but only once the test sets the window's `mayReturn`.
 */
const STAY = `{
  const { setInterval } = window;
  const isReturning = () => document.querySelector('.returning:not([hidden])') !== null;
  window.setInterval = (act, ms) =>
    setInterval(() => (window.mayReturn || !isReturning()) && act(), isReturning() ? ms / 10 : ms);
}`;

/** Opens a page in a separate window, does something there, and expects no errors. */
async function visit(
  path: string,
  act: (page: Page, visit: Visit) => Promise<void>,
  options?: BrowserContextOptions,
): Promise<void> {
  const context = await browser.newContext(windowOf(options));
  try {
    const page = await context.newPage();
    page.setDefaultTimeout(30_000);
    await page.addInitScript(STAY + ASKS_OFTEN);
    const trouble: string[] = [];
    page.on('console', line => {
      if (['error', 'warning'].includes(line.type())) trouble.push(line.text());
    });
    page.on('pageerror', error => trouble.push(error.message));
    page.on('request', request => {
      const { origin } = new URL(request.url());
      const led = request.isNavigationRequest() && origin === returnBase;
      if (origin !== base && !led && !request.url().startsWith('data:')) {
        trouble.push(request.url());
      }
    });
    await page.goto(base + path);
    await act(page, { page, trouble });
    expect(trouble).toEqual([]);
  } finally {
    await context.close();
  }
}

async function waitForStage(page: Page, stage: string): Promise<void> {
  await page.waitForSelector(`#checkout[data-stage="${stage}"]`);
}

const heading = (page: Page) => page.locator('h1').innerText();

function expectedReturn(checkout: OpenedCheckout, status: string): string {
  return `/thanks?order=7&promptId=${checkout.paymentId}&status=${status}`;
}

/** Marks the window; a reload would remove the mark. */
const mark = (page: Page) => page.evaluate('window.mark = true');
const isMarked = (page: Page) => page.evaluate('window.mark === true');

// These spend most of their time waiting, so they wait concurrently.
describe.concurrent('paying', () => {
  test('from the choice to the way back, which is followed automatically', async ({ expect }) => {
    const checkout = await open();
    await visit(checkout.path, async page => {
      await page.getByRole('button', { name: 'Ether ETH, Ethereum Mainnet' }).click();
      await waitForStage(page, 'waiting');
      expect(new URL(page.url()).pathname).toBe(checkout.path);
      const { token_amount: units } = await checkout.payment();
      const amount = await page.locator('#amount').innerText();
      expect(amount).toMatch(/^0\.0125/);
      // In the browser's time zone, where the service's noon is another hour.
      expect(await page.locator('.values time').innerText()).toMatch(/^\d+:\d\d\s[AP]M$/);
      expect(await page.locator('#address').innerText()).toBe(ADDRESSES.eth);
      expect(await page.getByRole('img', { name: 'QR code' }).isVisible()).toBe(true);
      const wallet = page.getByRole('link', { name: 'Open wallet' });
      expect(await wallet.getAttribute('href')).toBe(`ethereum:${ADDRESSES.eth}@1?value=${units}`);
      expect(await page.locator('.deadline').innerText()).toMatch(/^(30:00|29:5\d) left to pay$/);

      await page.getByRole('button', { name: 'Copy address' }).click();
      await expect.poll(() => page.locator('#announcer').innerText()).toBe('Copied');
      expect(await page.evaluate('navigator.clipboard.readText()')).toBe(ADDRESSES.eth);
      await page.getByRole('button', { name: 'Copy amount' }).click();
      expect(await page.evaluate('navigator.clipboard.readText()')).toBe(amount);

      await page.getByText('Simulate (not in production)').click();
      await page.getByRole('button', { name: 'detect' }).click();
      await waitForStage(page, 'confirming');
      await mark(page);
      await checkout.simulate('confirm');
      await waitForStage(page, 'paid');
      expect(await isMarked(page)).toBe(true);
      expect(await page.locator('#announcer').innerText()).toBe('Paid: $50.00 to Corner Shop.');
      expect(await page.title()).toBe('Paid · Corner Shop');
      await page.getByText('Returning in').waitFor();
      await page.evaluate('window.mayReturn = true');
      await page.waitForURL(`${returnBase}/**`);
      expect(page.url()).toBe(`${returnBase}${expectedReturn(checkout, 'successful')}#top`);
      expect(returns).toContain(expectedReturn(checkout, 'successful'));

      // A payer who comes back to the page is not redirected again.
      await page.goBack();
      await waitForStage(page, 'paid');
      expect(await page.getByText('Returning in').isVisible()).toBe(false);
    });
  });

  test('and staying, until the button is pressed', async () => {
    const checkout = await open();
    await checkout.simulate('confirm');
    await visit(checkout.path, async page => {
      await page.getByRole('button', { name: 'Stay here' }).click();
      expect(await page.getByText('Returning in').isVisible()).toBe(false);
      await page.getByRole('link', { name: 'Return to Corner Shop' }).click();
      await page.waitForURL(`${returnBase}/**`);
      expect(returns).toContain(expectedReturn(checkout, 'successful'));
    });
  });

  test('by keyboard alone, with a visible focus', async () => {
    const checkout = await open();
    await visit(checkout.path, async page => {
      await tabTo(page, 'button[value="eth-usdc"]');
      await page.keyboard.press('Enter');
      await waitForStage(page, 'waiting');
      for (const selector of ['#copy-amount', '#copy-address', '#cancel-title']) {
        await tabTo(page, selector);
      }
      await tabTo(page, '#simulate-title');
      await page.keyboard.press('Enter');
      await tabTo(page, 'button[value="confirm"]');
      await page.keyboard.press('Space');
      await waitForStage(page, 'paid');
      await tabTo(page, '#stay');
      await page.keyboard.press('Enter');
      expect(await page.evaluate('document.activeElement.id')).toBe('return');
      await page.keyboard.press('Enter');
      await page.waitForURL(`${returnBase}/**`);
    });
  });

  test('without a script: choosing, looking up, checking again, cancelling', async () => {
    const checkout = await open();
    await visit(
      checkout.path,
      async page => {
        await page.getByRole('button', { name: 'USD Coin USDC, Ethereum' }).click();
        await waitForStage(page, 'waiting');
        expect(await page.locator('.deadline').innerText()).toMatch(
          /^Pay before \d+:\d\d\s[AP]M UTC$/,
        );
        expect(await page.locator('.copy').first().isVisible()).toBe(false);
        await page.getByText('Already sent it?').click();
        await page.getByLabel('Transaction hash').fill(`0x${'0123456789abcdef'.repeat(4)}`);
        await page.getByRole('button', { name: 'Look up' }).click();
        await page.getByText('We have not seen this transaction').waitFor();
        await page.getByRole('link', { name: 'Check again' }).click();
        await page.getByText('Pay another way').click();
        await page.getByRole('button', { name: 'Bitcoin' }).click();
        await page.getByText('on Bitcoin Mainnet').first().waitFor();
        await page.getByText('Cancel payment').click();
        await page.getByRole('button', { name: 'Yes, cancel this payment' }).click();
        await waitForStage(page, 'cancelled');
        await page.getByRole('link', { name: 'Return to Corner Shop' }).click();
        expect(returns).toContain(expectedReturn(checkout, 'cancelled'));
      },
      { javaScriptEnabled: false },
    );
  });
});

describe.concurrent('changes are shown without reloading', () => {
  test('cancelling, in two steps', async () => {
    const checkout = await open();
    await checkout.pick('eth');
    await visit(checkout.path, async page => {
      await page.getByText('Cancel payment').click();
      await page.getByRole('button', { name: 'Yes, cancel this payment' }).click();
      await waitForStage(page, 'cancelled');
      expect(await checkout.payment()).toMatchObject({ status: 'cancelled' });
    });
  });

  test('an underpayment arriving, which keeps what is typed and open', async () => {
    const alone = await addMerchant(service, { addresses: { eth: `0x${'ab'.repeat(20)}` } });
    const checkout = await openCheckout(service, alone);
    await checkout.pick('eth');
    await visit(checkout.path, async page => {
      await page.getByText('Already sent it?').click();
      await page.getByLabel('Transaction hash').fill('0xabc');
      await checkout.simulate('under');
      await page.getByText('Too little has arrived.', { exact: true }).waitFor();
      expect(await page.getByLabel('Transaction hash').inputValue()).toBe('0xabc');
      expect(await page.evaluate('document.activeElement.id')).toBe('transaction');
      expect(await page.locator('#announcer').innerText()).toContain('Too little has arrived');

      await page.getByRole('link', { name: 'Open wallet' }).focus();
      await checkout.simulate('detect');
      await waitForStage(page, 'confirming');
      expect(await page.evaluate('document.activeElement.id')).toBe('title');
    });
  });

  test('an outdated tab shows what happened', async ({ expect }) => {
    const checkout = await open();
    await visit(checkout.path, async (page, { trouble }) => {
      await page.route('**/status', route => route.fulfill({ json: {}, status: 503 }));
      await checkout.simulate('detect');
      await page.getByRole('button', { name: 'Bitcoin' }).click();
      await page.getByText('The network was not chosen').waitFor();
      expect(await heading(page)).toBe('Payment seen');
      await expect.poll(() => new URL(page.url()).pathname).toBe(checkout.path);
      await page.unroute('**/status');
      await page.reload();
      expect(await heading(page)).toBe('Payment seen');
      // The browser itself reports every response above 399.
      expect(trouble.filter(line => !line.includes('Failed to load resource'))).toEqual([]);
      trouble.length = 0;
    });
  });

  test('being offline, and coming back', async () => {
    const checkout = await open();
    await checkout.pick('eth');
    await visit(checkout.path, async (page, { trouble }) => {
      const connection = page.locator('#connection');
      await page.context().setOffline(true);
      await page.getByText('You are offline.').waitFor();
      await checkout.simulate('detect');
      await page.context().setOffline(false);
      await waitForStage(page, 'confirming');
      expect(await connection.innerText()).toBe('');

      await page.route('**/status', route => route.abort());
      await page.getByText('The payment service cannot be reached.').waitFor();
      await page.unroute('**/status');
      await checkout.simulate('confirm');
      await page.evaluate('window.dispatchEvent(new Event("online"))');
      await waitForStage(page, 'paid');
      expect(await connection.innerText()).toBe('');
      trouble.length = 0;
    });
  });
});

test('the time running out is shown without reloading', async () => {
  const before = service.clock.now;
  const checkout = await open();
  await checkout.pick('eth');
  await visit(checkout.path, async page => {
    await mark(page);
    service.clock.now = (await checkout.payment()).expires_at.getTime() - 30_000;
    await page.locator('.deadline.soon').waitFor();
    expect(await page.locator('.deadline').innerText()).toMatch(/^0:\d\d left to pay$/);
    service.clock.now += 30_000;
    await waitForStage(page, 'overdue');
    await expirePayments(service.db, new Date(service.clock()), 100);
    await waitForStage(page, 'expired');
    expect(await isMarked(page)).toBe(true);
    expect(await page.locator('#address').count()).toBe(0);
    await page.getByRole('link', { name: 'Return to Corner Shop' }).click();
    await page.waitForURL(`${returnBase}/**`);
    expect(returns).toContain(expectedReturn(checkout, 'expired'));
  });
  service.clock.now = before;
});

/** Languages of full checks: one left to right, one right to left. */
const LOOKED_AT: readonly string[] = ['en', 'ar'];

/**
 * Expects everything on a page to be accessible, including collapsed parts, and to fit in every language. Other
 * contents and colours are the same in all languages.
 */
async function expectAccessibleEverywhere(page: Page): Promise<void> {
  const { origin, pathname } = new URL(page.url());
  // Pages that are opened after the first full check parse axe, whether they are checked or not.
  const others = LANGUAGE_TAGS.filter(tag => !LOOKED_AT.includes(tag));
  for (const tag of [...others, ...LOOKED_AT]) {
    await page.goto(`${origin}${pathname}?lang=${tag}`);
    expect(await page.evaluate('document.documentElement.lang')).toBe(tag);
    // Otherwise the page redirects after a payment.
    const stay = page.locator('#stay');
    if (await stay.isVisible()) await stay.click();
    await page.evaluate('for (const one of document.querySelectorAll("details")) one.open = true');
    if (LOOKED_AT.includes(tag)) await expectAccessible(page, seenKinds);
    else await expectToFit(page);
  }
}

describe('every state can be used by everybody, in every language', () => {
  const states: Record<string, (checkout: OpenedCheckout) => Promise<unknown>> = {
    choose: async () => undefined,
    waiting: checkout => checkout.pick('eth'),
    confirming: checkout => checkout.simulate('detect'),
    paid: checkout => checkout.simulate('confirm'),
    cancelled: checkout => checkout.post('cancel'),
    unsuccessful: checkout => checkout.simulate('fail'),
  };

  test.each(Object.entries(states))('%s', async (stage, reach) => {
    const checkout = await open();
    await reach(checkout);
    await visit(
      checkout.path,
      async page => {
        await waitForStage(page, stage);
        await expectAccessibleEverywhere(page);
      },
      { viewport: NARROW },
    );
  });

  test('underpaid', async () => {
    const alone = await addMerchant(service, { addresses: { eth: `0x${'cd'.repeat(20)}` } });
    const checkout = await openCheckout(service, alone);
    await checkout.pick('eth');
    await checkout.simulate('under');
    await visit(checkout.path, expectAccessibleEverywhere, { viewport: NARROW });
  });

  test('overdue', async () => {
    const checkout = await open();
    await checkout.pick('btc');
    const before = service.clock.now;
    service.clock.now = (await checkout.payment()).expires_at.getTime();
    await visit(checkout.path, expectAccessibleEverywhere, { viewport: NARROW });
    await expirePayments(service.db, new Date(service.clock()), 100);
    service.clock.now = before;
  });

  test('a notice, expired, and no page at all', async () => {
    const checkout = await open();
    const before = service.clock.now;
    await visit(
      checkout.path,
      async (page, { trouble }) => {
        service.rates.switchOff('ETH');
        await page.getByRole('button', { name: 'Ether ETH' }).click();
        await page.getByRole('alert').waitFor();
        service.rates.switchOn('ETH');
        await expectAccessible(page, seenKinds);
        service.clock.now = (await checkout.payment()).expires_at.getTime();
        await expirePayments(service.db, new Date(service.clock()), 100);
        await page.reload();
        await expectAccessible(page, seenKinds);
        service.clock.now = before;
        await page.goto(`${base}/checkout/${'x'.repeat(43)}`);
        expect(await heading(page)).toBe('There is no such payment page');
        await expectAccessible(page, seenKinds);
        expect(trouble.every(line => /404|503/.test(line))).toBe(true);
        trouble.length = 0;
      },
      { viewport: NARROW },
    );
  });
});

test('networks are searched by coin and network, once there are many', async () => {
  const many = await addMerchant(service, { addresses: EVERYWHERE });
  const checkout = await openCheckout(service, many);
  await visit(checkout.path, async page => {
    const shown = () => page.locator('.network:visible').count();
    const all = await shown();
    expect(all).toBeGreaterThanOrEqual(8);
    await page.getByRole('searchbox', { name: 'Search coins and networks' }).fill('usdc ethereum');
    expect(await shown()).toBe(2);
    expect(await page.locator('.coin-head:visible').allInnerTexts()).toEqual([
      'USD Coin USDC',
      'USD Coin USDC',
    ]);
    // Enter searches; it chooses nothing.
    await page.getByRole('searchbox').press('Enter');
    expect(await checkout.payment()).toMatchObject({ blockchain_id: null });
    await page.getByRole('searchbox').fill('doge');
    expect(await shown()).toBe(0);
    await page.getByText('No coin or network is called that.').waitFor();
    await page.getByRole('searchbox').fill('');
    expect(await shown()).toBe(all);
    // A few fit on the screen, so there is no search.
    await page.goto(base + (await open()).path);
    expect(await page.getByRole('searchbox').isVisible()).toBe(false);
  });
});

describe('on every screen', () => {
  const SCREENS = [NARROW, PHONE, DESKTOP];

  test('the notice of a simulation spans the page', async () => {
    const { path } = await open();
    await visit(path, async page => {
      for (const screen of SCREENS) {
        await page.setViewportSize(screen);
        const box = await page.locator('.simulation').boundingBox();
        expect(box).toMatchObject({ x: 0, y: 0, width: screen.width });
      }
    });
  });

  test('the picker’s amounts are right-aligned, next to the network', async () => {
    const many = await addMerchant(service, { addresses: EVERYWHERE });
    const { path } = await openCheckout(service, many);
    await visit(path, async page => {
      for (const screen of SCREENS) {
        await page.setViewportSize(screen);
        const places =
          (await page.evaluate(`[...document.querySelectorAll('.network')].map(each => {
          const [where, amount] = ['.where', '.estimate'].map(name =>
            each.querySelector(name).getBoundingClientRect());
          return { end: Math.round(amount.right), lower: amount.top - where.top, gap: amount.left - where.right };
        })`)) as { end: number; lower: number; gap: number }[];
        expect(places.length).toBeGreaterThan(8);
        expect(new Set(places.map(({ end }) => end)).size).toBe(1);
        for (const { lower, gap } of places) {
          expect(Math.abs(lower)).toBeLessThan(8);
          expect(gap).toBeGreaterThanOrEqual(0);
        }
      }
    });
  });

  test('no line of Japanese breaks within a word', async () => {
    const { path } = await open();
    await visit(`${path}?lang=ja`, async page => {
      await page.getByText('お支払いをキャンセルする').click();
      for (let width = 260; width <= 480; width += 4) {
        await page.setViewportSize({ width, height: 800 });
        expect(await brokenWords(page, 'キャンセル'), `${width}`).toBe(0);
      }
    });
  });

  test('an Arabic page has an amount’s number to the left of its unit', async () => {
    const { path } = await open();
    await visit(`${path}?lang=ar`, async page => {
      const inOrder = (selector: string) =>
        page.evaluate(`[...document.querySelectorAll('${selector}')].map(element => {
          const node = [...element.childNodes].find(each => each.nodeType === 3);
          const at = pattern => {
            const index = node.data.search(pattern);
            const range = document.createRange();
            range.setStart(node, index);
            range.setEnd(node, index + 1);
            return range.getBoundingClientRect().left;
          };
          return at(/\\d/) < at(/[A-Z]/);
        })`);
      expect(await inOrder('.total')).toEqual([true]);
      expect(await inOrder('.estimate')).toEqual([true, true, true]);
      await page.getByRole('button', { name: 'Bitcoin' }).click();
      await waitForStage(page, 'waiting');
      expect(await inOrder('#title')).toEqual([true]);
    });
  });
});

/** How often a word is split over two lines. */
function brokenWords(page: Page, word: string): Promise<number> {
  return page.evaluate(`(() => {
    const texts = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
    let broken = 0;
    while (texts.nextNode()) {
      const { data } = texts.currentNode;
      for (let at = data.indexOf('${word}'); at !== -1; at = data.indexOf('${word}', at + 1)) {
        const range = document.createRange();
        range.setStart(texts.currentNode, at);
        range.setEnd(texts.currentNode, at + ${word.length});
        if (new Set([...range.getClientRects()].map(({ top }) => top)).size > 1) broken += 1;
      }
    }
    return broken;
  })()`);
}

/** Presses Tab until the element has the focus, and expects the focus to be visible on the way. */
async function tabTo(page: Page, selector: string): Promise<void> {
  for (let press = 0; press < 40; press += 1) {
    await page.keyboard.press('Tab');
    const focus = (await page.evaluate(`(() => {
      const { activeElement: element } = document;
      return { there: element.matches(${JSON.stringify(selector)}),
        outline: getComputedStyle(element).outlineStyle, body: element === document.body };
    })()`)) as { there: boolean; outline: string; body: boolean };
    if (!focus.body) expect(focus.outline).not.toBe('none');
    if (focus.there) return;
  }
  throw new Error(`${selector} cannot be reached by Tab`);
}
