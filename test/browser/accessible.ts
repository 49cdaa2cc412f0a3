import axe from 'axe-core';
import type { Page } from 'playwright-core';
import { expect } from 'vitest';

const SCHEMES = ['light', 'dark'] as const;

/** Expects no violation that axe finds, in light and dark, and nothing wider than the screen. */
export async function expectAccessible(
  page: Page,
  schemes: readonly (typeof SCHEMES)[number][] = SCHEMES,
): Promise<void> {
  await page.evaluate(axe.source);
  for (const colorScheme of schemes) {
    await page.emulateMedia({ colorScheme });
    const { violations } = (await page.evaluate('axe.run()')) as axe.AxeResults;
    expect(
      violations.map(({ id, nodes }) => [id, ...nodes.map(node => node.html.slice(0, 200))]),
      page.url(),
    ).toEqual([]);
  }
  const { width } = page.viewportSize() ?? { width: 0 };
  expect(
    await page.evaluate('document.documentElement.scrollWidth'),
    page.url(),
  ).toBeLessThanOrEqual(width);
}
