import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { DESKTOP, NARROW, PHONE, windowOf } from '../helpers/browser.ts';
import { expectAccessible } from './accessible.ts';
import { type Documentation, openDocumentation } from './documentation.ts';

let docs: Documentation;
let browser: Browser;
let base: string;
beforeAll(async () => {
  docs = await openDocumentation();
  ({ browser, base } = docs);
});
afterAll(() => docs?.close());

const visit: Documentation['visit'] = (path, options, act) =>
  docs.visit(path, windowOf({ viewport: DESKTOP, ...options }), act);

const tab = (page: Page, name: string) => page.getByRole('tab', { name }).first();
const shown = (page: Page) =>
  page.locator('.languages code:visible').evaluateAll(codes => codes.map(code => code.className));
const results = (page: Page) => page.locator('.found a');

describe('a copy button', () => {
  test('copies its block unchanged, and says so', async () => {
    await visit('/docs/quickstart', {}, async page => {
      const block = page.locator('.code').first();
      // Both disappear after some seconds.
      const told = Promise.all([
        block.getByRole('button', { name: 'Copied' }).waitFor(),
        page.getByRole('status').filter({ hasText: 'Copied the code.' }).waitFor(),
      ]);
      await block.getByRole('button', { name: 'Copy', exact: true }).click();
      await told;
      expect(await page.evaluate('navigator.clipboard.readText()')).toBe(
        await block.locator('pre').textContent(),
      );
      await block.getByRole('button', { name: 'Copy', exact: true }).waitFor();
    });
  });

  test('selects the block where there is no clipboard', async () => {
    await visit('/docs/quickstart', { permissions: [] }, async page => {
      await page.evaluate('navigator.clipboard.writeText = () => Promise.reject()');
      const told = page.getByRole('button', { name: 'Selected' }).waitFor();
      await page.getByRole('button', { name: 'Copy' }).first().click();
      await told;
      expect(await page.evaluate('getSelection().toString()')).toContain('npm install');
    });
  });
});

describe('examples in several languages', () => {
  test('are tabs, and the chosen language is remembered on other pages', async () => {
    await visit('/docs/webhooks', {}, async page => {
      expect(await shown(page)).toEqual(['language-js']);
      await tab(page, 'Python').click();
      expect(await shown(page)).toEqual(['language-python']);
      await page.goto(`${base}/docs/signing`);
      await page.locator('.tabbed').waitFor();
      expect(await shown(page)).toEqual(['language-python']);
      await tab(page, 'PHP').click();
      await page.goto(`${base}/docs/webhooks`);
      await page.locator('.tabbed').waitFor();
      expect(await shown(page)).toHaveLength(1);
    });
  });

  test('follow the arrow keys, Home and End, and only one tab is focusable', async () => {
    await visit('/docs/signing', {}, async page => {
      await tab(page, 'Shell').focus();
      for (const [key, name] of [
        ['ArrowRight', 'Node.js'],
        ['ArrowLeft', 'Shell'],
        ['ArrowLeft', 'PHP'],
        ['ArrowRight', 'Shell'],
        ['End', 'PHP'],
        ['Home', 'Shell'],
      ] as const) {
        await page.keyboard.press(key);
        const selected = page.getByRole('tab', { selected: true });
        expect(await selected.textContent()).toBe(name);
        expect(await page.locator(':focus').textContent()).toBe(name);
      }
      expect(await page.locator('[role="tab"][tabindex="0"]').count()).toBe(1);
      await page.keyboard.press('Tab');
      expect(await page.locator('pre:focus').count()).toBe(1);
    });
  });

  test('work where storage is disabled', async () => {
    const context = await browser.newContext({ viewport: DESKTOP });
    const page = await context.newPage();
    await page.addInitScript(`Object.defineProperty(window, 'localStorage', {
      get() { throw new DOMException('denied', 'SecurityError'); },
    })`);
    await page.goto(`${base}/docs/signing`);
    await tab(page, 'Node.js').click();
    expect(await shown(page)).toEqual(['language-js']);
    await context.close();
  });

  test('keep the part of the URL’s fragment in view', async () => {
    await visit('/docs/signing#when-it-is-refused', {}, async page => {
      await page.locator('.tabbed').waitFor();
      const top = await page.locator('#when-it-is-refused').boundingBox();
      expect(top?.y).toBeGreaterThanOrEqual(0);
      expect(top?.y).toBeLessThan(DESKTOP.height / 2);
    });
  });
});

describe('the search', () => {
  test('loads its index on first use, and leads to headings by keyboard alone', async () => {
    await visit('/docs/quickstart', {}, async page => {
      const asked: string[] = [];
      page.on('request', request => void asked.push(new URL(request.url()).pathname));
      await page.keyboard.press('/');
      await page.keyboard.type('rate lim');
      await results(page).first().waitFor();
      expect(asked).toEqual(['/docs/search.json']);
      expect(await results(page).first().textContent()).toBe('Rate limit Idempotency and retries');
      expect(await page.locator('.found [role="status"]').textContent()).toMatch(/results$/);
      await page.keyboard.press('ArrowDown');
      await page.keyboard.press('ArrowDown');
      await page.keyboard.press('ArrowUp');
      await page.keyboard.press('Enter');
      await page.waitForURL(`${base}/docs/idempotency#rate-limit`);
    });
  });

  test('opens the best result on Enter, and closes on Escape', async () => {
    await visit('/', {}, async page => {
      const input = page.getByRole('searchbox', { name: 'Search the documentation' });
      await input.fill('webhooks');
      await results(page).first().waitFor();
      await page.keyboard.press('ArrowDown');
      await page.keyboard.press('Escape');
      expect(await results(page).count()).toBe(0);
      expect(await page.locator('input:focus').count()).toBe(1);
      await input.fill('E2007');
      await results(page).first().waitFor();
      await page.keyboard.press('Enter');
      await page.waitForURL(`${base}/docs/errors/E2007`);
    });
  });

  test('finds what newcomers ask for, and misspelt words', async () => {
    await visit('/docs', {}, async page => {
      const status = page.locator('.found [role="status"]');
      const firstFor = async (query: string, counted: RegExp) => {
        await page.getByRole('searchbox').fill(query);
        await status.filter({ hasText: counted }).waitFor();
        return results(page).first().getAttribute('href');
      };
      const count = /^\d+( of \d+)? results?$/;
      for (const query of ['csv', 'branding', 'TOTP', 'invoice', 'invoices', 'balancers']) {
        expect(await firstFor(query, count), query).toMatch(/^\/docs\//);
        await page.getByRole('searchbox').fill('');
        await status.filter({ hasText: /^$/ }).waitFor({ state: 'attached' });
      }
      // A missing letter, an extra one, a wrong one, two swapped; and one of two words.
      for (const typo of ['webhoks', 'webhoooks', 'webhpoks', 'wehbooks']) {
        expect(await firstFor(typo, / for “webhooks”$/), typo).toBe('/docs/webhooks');
      }
      expect(await firstFor('rate limti', / for “rate limit”$/)).toBe(
        '/docs/idempotency#rate-limit',
      );
    });
  });

  test('says when it finds nothing, and when it fails', async () => {
    await visit('/docs', {}, async page => {
      const status = page.locator('.found [role="status"]');
      await page.getByRole('searchbox').fill('zebra');
      await status.filter({ hasText: 'Nothing found for “zebra”.' }).waitFor();
    });
    const context = await browser.newContext({ viewport: PHONE });
    const page = await context.newPage();
    await page.route('**/search.json', route => route.abort());
    await page.goto(`${base}/docs`);
    await page.getByRole('searchbox').fill('webhooks');
    const status = page.locator('.found [role="status"]');
    await status.filter({ hasText: 'cannot be loaded' }).waitFor();
    // It works again when the reader returns to it.
    await page.unroute('**/search.json');
    await page.getByRole('searchbox').blur();
    await page.getByRole('searchbox').fill('webhook');
    await results(page).first().waitFor();
    await context.close();
  });
});

test.each([DESKTOP, PHONE, NARROW])(
  'tabs, buttons and results have no barrier on $width',
  async viewport => {
    // Axe is an inline script, which the policy forbids.
    await visit('/docs/signing', { viewport, bypassCSP: true }, async page => {
      await tab(page, 'PHP').click();
      await page.getByRole('searchbox').fill('signature');
      await results(page).first().waitFor();
      await expectAccessible(page);
    });
  },
);

test('without scripts everything is there, except what needs them', async () => {
  await visit('/docs/signing', { javaScriptEnabled: false }, async page => {
    expect(await page.locator('.languages pre').count()).toBe(4);
    for (const pre of await page.locator('.languages pre').all()) {
      expect(await pre.isVisible()).toBe(true);
    }
    expect(await page.locator('.language > p').allTextContents()).toEqual([
      'Shell',
      'Node.js',
      'Python',
      'PHP',
    ]);
    expect(await page.locator('.search').isVisible()).toBe(false);
    expect(await page.locator('button').count()).toBe(0);
  });
});
