import type { Page } from 'playwright-core';
import { expect } from 'vitest';
import { en } from '#surfaces/panel/texts/en/index.ts';
import { es } from '#surfaces/panel/texts/es/index.ts';

/** The least width and height of what is touched, in CSS pixels (WCAG 2.2, 2.5.8). */
const TARGET = 24;

/** What can be touched and is too small. Links with text beside them, and what nobody sees, do not count. */
const SMALL_TARGETS = `[...document.querySelectorAll('a, button, input, select, summary, textarea')]
  .filter(each => each.checkVisibility() && !each.closest('.visually-hidden, .skip'))
  .filter(each => each.tagName !== 'A'
    || ![...each.parentElement.childNodes].some(beside => beside.nodeType === 3 && beside.data.trim() !== ''))
  .map(each => (/^(checkbox|radio)$/.test(each.type) ? each.labels[0] ?? each : each))
  .filter(each => {
    const { width, height } = each.getBoundingClientRect();
    return Math.min(width, height) < ${TARGET};
  })
  .map(each => each.outerHTML.slice(0, 200))`;

/**
 * Texts of the catalogue of several words that have no values, and are other in Spanish. Left out are single
 * words, which may be in names as well, and texts with values: `test/surfaces/panel/texts.test.ts` shows that those of the
 * catalogue are not English, but not that a page takes them from there.
 */
const ENGLISH = sentencesOf(en, es);

/** The page as it is at one time: some load themselves again. */
const SEEN = `({
  language: document.documentElement.lang,
  width: document.documentElement.scrollWidth,
  text: document.body.textContent,
  small: ${SMALL_TARGETS},
})`;

interface Seen {
  readonly language: string;
  readonly width: number;
  readonly text: string;
  readonly small: readonly string[];
}

/** Expects a page that is wholly in Spanish, no wider than the phone, and whose controls a finger finds. */
export async function expectSpanishOnPhone(page: Page): Promise<void> {
  const { text, ...seen }: Seen = await page.evaluate(SEEN);
  const shown = text.replaceAll(/\s+/g, ' ');
  const english = ENGLISH.filter(each => shown.includes(each));
  expect({ ...seen, english }, page.url()).toEqual({
    language: 'es',
    width: page.viewportSize()?.width,
    small: [],
    english: [],
  });
}

function sentencesOf(english: object, spanish: object): string[] {
  return Object.entries(english).flatMap(([key, text]: [string, unknown]) => {
    const other: unknown = Reflect.get(spanish, key);
    if (typeof text === 'object' && text !== null) return sentencesOf(text, Object(other));
    return typeof text === 'string' && text.includes(' ') && text !== other ? [text] : [];
  });
}
