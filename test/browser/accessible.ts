import axe from 'axe-core';
import type { BrowserContext, Page } from 'playwright-core';
import { expect } from 'vitest';

const SCHEMES = ['light', 'dark'] as const;

const AXE = axe.source;

/**
 * Gives axe to every page that is opened from now on. To send it to a page that is open takes several times as
 * long as the check itself.
 */
export async function admitAxe(pages: Page | BrowserContext): Promise<void> {
  await pages.addInitScript({ content: AXE });
}

/**
 * Expects no violation that axe finds, in light and dark, and nothing wider than the screen. Nothing but
 * colours depends on the scheme: the second is looked at for contrast alone.
 */
export async function expectAccessible(
  page: Page,
  schemes: readonly (typeof SCHEMES)[number][] = SCHEMES,
): Promise<void> {
  if (!(await page.evaluate('"axe" in window'))) {
    await page.evaluate(AXE);
    await admitAxe(page);
  }
  for (const [index, colorScheme] of schemes.entries()) {
    await page.emulateMedia({ colorScheme });
    const options: axe.RunOptions = index === 0 ? {} : { runOnly: ['color-contrast'] };
    expect(await violationsOf(page, options), page.url()).toEqual([]);
  }
  const { width } = page.viewportSize() ?? { width: 0 };
  expect(
    await page.evaluate('document.documentElement.scrollWidth'),
    page.url(),
  ).toBeLessThanOrEqual(width);
}

/** Whatever axe objects to. What it does not is left out: to list and to send that takes most of the time. */
async function violationsOf(page: Page, options: axe.RunOptions): Promise<string[][]> {
  const run = JSON.stringify({ ...options, resultTypes: ['violations'] });
  const violations = (await page.evaluate(
    `axe.run(${run}).then(({ violations }) => violations)`,
  )) as axe.Result[];
  return violations.map(({ id, nodes }) => [id, ...nodes.map(node => node.html.slice(0, 200))]);
}
