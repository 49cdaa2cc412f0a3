import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { GUIDE_GROUPS } from '#surfaces/docs/guides/index.ts';
import { DESKTOP, NARROW, PHONE } from '../helpers/browser.ts';
import { expectAccessible, expectToFit, type SeenKinds } from './accessible.ts';
import { type Documentation, openDocumentation, type Window } from './documentation.ts';

const PATHS = [
  '/',
  '/docs',
  ...GUIDE_GROUPS.flatMap(({ slugs }) => slugs.map(slug => `/docs/${slug}`)),
  '/docs/reference',
  '/docs/errors',
  '/docs/errors/E2007',
];

const seenKinds: SeenKinds = new Set();
let docs: Documentation;
beforeAll(async () => {
  docs = await openDocumentation();
});
afterAll(() => docs?.close());

const visit: Documentation['visit'] = (...given) => docs.visit(...given);

describe('in one window', () => {
  let window: Window;
  beforeAll(async () => {
    // The pages' policy forbids all scripts but their own, including axe.
    window = await docs.openWindow({ colorScheme: 'light', bypassCSP: true });
  });
  afterAll(() => window?.close());

  test.each(PATHS)(
    '%s never scrolls sideways, and has no barrier that axe finds, in light and dark',
    path =>
      window.visit(path, async page => {
        for (const viewport of [NARROW, PHONE, DESKTOP]) {
          await page.setViewportSize(viewport);
          await expectToFit(page);
        }
        await expectAccessible(page, seenKinds);
      }),
  );
});

test('on a phone the contents open above the page and lead on', async () => {
  await visit('/docs/signing', { viewport: PHONE, javaScriptEnabled: false }, async page => {
    const link = page.locator('.contents a', { hasText: 'Webhooks' });
    expect(await link.isVisible()).toBe(false);
    await page.locator('.contents > summary').click();
    await link.click();
    await page.waitForURL(`${docs.base}/docs/webhooks`);
    expect(await page.locator('h1').textContent()).toBe('Webhooks');
  });
});

test('on a phone each cell of a wide table names its column', async () => {
  await visit('/docs/operating/configuration', { viewport: PHONE }, async page => {
    const row = page.locator('tr', { hasText: 'RETENTION_DAYS' });
    const cells = await row.locator('th, td').all();
    const boxes = await Promise.all(cells.map(cell => cell.boundingBox()));
    const width = (await row.boundingBox())?.width ?? 0;
    expect(boxes).toHaveLength(3);
    for (const [index, box] of boxes.entries()) {
      expect(box?.width).toBeGreaterThan(width - 2);
      if (index > 0) expect(box?.y).toBeGreaterThan(boxes[index - 1]?.y ?? 0);
    }
    const labels = await page.evaluate(`[...document.querySelectorAll('tr')]
      .filter(row => row.textContent.includes('RETENTION_DAYS'))
      .flatMap(row => [...row.querySelectorAll('td')])
      .map(cell => getComputedStyle(cell, '::before').content)`);
    expect(labels).toEqual(['"meaning: "', '"default: "']);
  });
});

test('on a desktop the contents are next to the page', async () => {
  await visit('/docs/reference', { viewport: DESKTOP, javaScriptEnabled: false }, async page => {
    await page.locator('.side a', { hasText: 'Create a payment' }).click();
    await page.waitForURL(`${docs.base}/docs/reference#createPayment`);
    const top = await page.locator('#createPayment').boundingBox();
    expect(top?.y).toBeGreaterThan(0);
    expect(top?.y).toBeLessThan(DESKTOP.height / 2);
  });
});

test('a page that does not exist looks like the others and links home', async () => {
  const context = await docs.browser.newContext({ viewport: PHONE });
  const page = await context.newPage();
  const answer = await page.goto(`${docs.base}/docs/nothing/here`);
  expect(answer?.status()).toBe(404);
  await page.locator('main a', { hasText: 'documentation' }).click();
  await page.waitForURL(`${docs.base}/docs`);
  await context.close();
});

test('printed, a guide is its text alone', async () => {
  await visit('/docs/signing', { viewport: DESKTOP }, async page => {
    await page.emulateMedia({ media: 'print' });
    for (const part of ['.bar', '.side', '.contents', '.page footer']) {
      expect(await page.locator(part).isVisible()).toBe(false);
    }
    expect(await page.locator('h1').isVisible()).toBe(true);
  });
});
