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
  /** Query that keeps a language chosen by hand in the page's links: `?lang=de`, or empty. */
  readonly query: string;
}

/** The language of `?lang=`, or else the one that the browser prefers. */
export function localeOf({ query, headers }: Pick<FastifyRequest, 'query' | 'headers'>): Locale {
  // Also called for failures, before a schema was applied or if the URL could not be read.
  const isNamed = typeof query === 'object' && query !== null && 'lang' in query;
  const lang = isNamed ? query.lang : undefined;
  const accepted = headers['accept-language'];
  const isChosen = isLanguage(lang);
  const tag = isChosen ? lang : preferredLanguage(accepted);
  return createLocale(tag, localeFor(tag, accepted), isChosen ? `?lang=${tag}` : '');
}

/** For pages that are in English whatever the browser prefers. */
export const ENGLISH = createLocale('en', languageOf('en').locale, '');

function createLocale(tag: LanguageTag, formatTag: string, query: string): Locale {
  const { direction, texts } = languageOf(tag);
  return { tag, formatTag, direction, texts, format: formatIn(formatTag), query };
}
