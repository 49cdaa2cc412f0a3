import axe from 'axe-core';
import type { Page } from 'playwright-core';
import { expect } from 'vitest';

const SCHEMES = ['light', 'dark'] as const;

/**
 * Expects no violation that axe finds, in light and dark, and nothing wider than the screen. Nothing but
 * colours depends on the scheme: the second is looked at for contrast alone.
 */
export async function expectAccessible(
  page: Page,
  schemes: readonly (typeof SCHEMES)[number][] = SCHEMES,
): Promise<void> {
  await page.evaluate(axe.source);
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
