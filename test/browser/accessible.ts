import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import type axe from 'axe-core';
import type { BrowserContext, Page } from 'playwright-core';
import { expect } from 'vitest';

/** Minified: every page that is opened parses it, which takes half as long as with `axe.source`. */
const AXE = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

/** Attributes that style sheets select. */
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
 * The kinds of elements on a page, as style sheets select them: tag, classes, these attributes and the tag of the
 * previous sibling, and the same of all ancestors.
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
 * Injects axe into every page that is opened from now on. Sending it to an open page takes several times as
 * long as the check itself.
 */
export async function admitAxe(pages: Page | BrowserContext): Promise<void> {
  await pages.addInitScript({ content: AXE });
}

/** Kinds of elements that were checked in dark mode: pages with one style share a set of them. */
export type SeenKinds = Set<string>;

/**
 * Expects no violation found by axe, in light and dark, and nothing wider than the screen. Only colours depend on
 * the scheme: dark is checked for contrast alone, and only if the page has a kind of element that no
 * earlier page had. A check of dark takes three quarters of a full one.
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

/** Violations found by axe. Passed checks are left out: listing and sending those takes most of the time. */
async function violationsOf(page: Page, options: axe.RunOptions): Promise<string[][]> {
  const run = JSON.stringify({ ...options, resultTypes: ['violations'] });
  const violations = (await page.evaluate(
    `axe.run(${run}).then(({ violations }) => violations)`,
  )) as axe.Result[];
  return violations.map(({ id, nodes }) => [id, ...nodes.map(node => node.html.slice(0, 200))]);
}
