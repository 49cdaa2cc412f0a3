import type { FastifyRequest } from 'fastify';
import { type Format, formatIn } from './format.ts';
import type { CheckoutTexts } from './texts/en.ts';
import {
  isLanguage,
  type LanguageTag,
  languageOf,
  localeFor,
  preferredLanguage,
} from './texts/languages.ts';

/** The language of a page. */
export interface Locale {
  readonly tag: LanguageTag;
  /** BCP 47 tag for numbers and dates. */
  readonly formatTag: string;
  readonly direction: 'ltr' | 'rtl';
  readonly texts: CheckoutTexts;
  readonly format: Format;
  /** What keeps a language that was chosen by hand in the page's links: `?lang=de`, or nothing. */
  readonly query: string;
}

/** The language that was chosen by `?lang=`, or else the one that the browser prefers. */
export function localeOf({ query, headers }: Pick<FastifyRequest, 'query' | 'headers'>): Locale {
  // Failures have a language too: no schema may have been applied, and the URL may be unreadable.
  const isRead = typeof query === 'object' && query !== null && 'lang' in query;
  const lang = isRead ? query.lang : undefined;
  const accepted = headers['accept-language'];
  const isChosen = isLanguage(lang);
  const tag = isChosen ? lang : preferredLanguage(accepted);
  return speak(tag, localeFor(tag, accepted), isChosen ? `?lang=${tag}` : '');
}

/** For whoever sent a request of which nothing could be read. */
export const ENGLISH = speak('en', languageOf('en').locale, '');

function speak(tag: LanguageTag, formatTag: string, query: string): Locale {
  const { direction, texts } = languageOf(tag);
  return { tag, formatTag, direction, texts, format: formatIn(formatTag), query };
}
