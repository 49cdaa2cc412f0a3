import axe from 'axe-core';
import type { BrowserContext, Page } from 'playwright-core';
import { expect } from 'vitest';

const AXE = axe.source;

/** Attributes that style sheets ask for. */
export const STYLED_ATTRIBUTES = [
  'aria-current',
  'aria-invalid',
  'aria-selected',
  'data-title',
  'disabled',
  'hidden',
  'open',
  'role',
  'type',
] as const;

/**
 * Each element of a page by what style sheets ask for: its tag, its classes, these attributes and the tag that it
 * follows, and the same of all that it is in.
 */
const KINDS = `(() => {
  const kinds = new Set();
  const look = (element, above) => {
    const attributes = ${JSON.stringify(STYLED_ATTRIBUTES)}
      .filter(name => element.hasAttribute(name))
      .map(name => name + (name.startsWith('data-') ? '' : '=' + element.getAttribute(name)));
    const follows = element.previousElementSibling?.localName;
    const own = [element.localName, ...[...element.classList].sort(), ...attributes, follows];
    const kind = above + ' ' + own.join('.');
    kinds.add(kind);
    for (const child of element.children) look(child, kind);
  };
  look(document.body, '');
  return [...kinds];
})()`;

/**
 * Gives axe to every page that is opened from now on. To send it to a page that is open takes several times as
 * long as the check itself.
 */
export async function admitAxe(pages: Page | BrowserContext): Promise<void> {
  await pages.addInitScript({ content: AXE });
}

/** Kinds of elements that were looked at in dark: pages of one style share a set of them. */
export type SeenKinds = Set<string>;

/**
 * Expects no violation that axe finds, in light and dark, and nothing wider than the screen. Nothing but
 * colours depends on the scheme: dark is looked at for contrast alone, and where the page has a kind of element
 * that none before it had. A look at dark takes three quarters of a whole one.
 */
export async function expectAccessible(page: Page, seen: SeenKinds = new Set()): Promise<void> {
  if (!(await page.evaluate('"axe" in window'))) {
    await page.evaluate(AXE);
    await admitAxe(page);
  }
  await page.emulateMedia({ colorScheme: 'light' });
  expect(await violationsOf(page, {}), page.url()).toEqual([]);
  const kinds = (await page.evaluate(KINDS)) as string[];
  if (kinds.some(kind => !seen.has(kind))) {
    await page.emulateMedia({ colorScheme: 'dark' });
    expect(await violationsOf(page, { runOnly: ['color-contrast'] }), page.url()).toEqual([]);
  }
  for (const kind of kinds) seen.add(kind);
  await expectToFit(page);
}

/** Expects nothing wider than the screen. */
export async function expectToFit(page: Page): Promise<void> {
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
