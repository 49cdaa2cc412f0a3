import { negotiate, preferredLanguage as preferredOf } from '../../../pages/preferred-language.ts';
import { ar } from './ar.ts';
import { de } from './de.ts';
import { type CheckoutTexts, en } from './en.ts';
import { es } from './es.ts';
import { fr } from './fr.ts';
import { ja } from './ja.ts';
import { pt } from './pt.ts';
import { tr } from './tr.ts';

interface Language {
  /** The language's name in the language itself. */
  readonly name: string;
  /** BCP 47 tag for numbers and dates. Digits are those that wallets show, in Arabic as well. */
  readonly locale: string;
  readonly direction: 'ltr' | 'rtl';
  readonly texts: CheckoutTexts;
}

const LANGUAGES = {
  en: { name: 'English', locale: 'en-US', direction: 'ltr', texts: en },
  es: { name: 'Español', locale: 'es', direction: 'ltr', texts: es },
  de: { name: 'Deutsch', locale: 'de', direction: 'ltr', texts: de },
  fr: { name: 'Français', locale: 'fr', direction: 'ltr', texts: fr },
  pt: { name: 'Português', locale: 'pt', direction: 'ltr', texts: pt },
  tr: { name: 'Türkçe', locale: 'tr', direction: 'ltr', texts: tr },
  ar: { name: 'العربية', locale: 'ar-u-nu-latn', direction: 'rtl', texts: ar },
  ja: { name: '日本語', locale: 'ja', direction: 'ltr', texts: ja },
} as const satisfies Record<string, Language>;

export type LanguageTag = keyof typeof LANGUAGES;

/** In the order of the switch. */
export const LANGUAGE_TAGS = Object.keys(LANGUAGES) as LanguageTag[];

export function languageOf(tag: LanguageTag): Language {
  return LANGUAGES[tag];
}

export function isLanguage(text: unknown): text is LanguageTag {
  return typeof text === 'string' && Object.hasOwn(LANGUAGES, text);
}

/** Spanish with a decimal point, where `es` has a comma. */
const SPANISH_WITH_POINT = { locale: 'es-MX', tags: /^es-(419|CU|DO|GT|HN|MX|NI|PA|PR|SV|US)$/i };

/**
 * The BCP 47 tag by which a language writes numbers for a browser.
 * @param acceptLanguage The header `Accept-Language`.
 */
export function localeFor(tag: LanguageTag, acceptLanguage: string | undefined): string {
  const { locale } = languageOf(tag);
  if (tag !== 'es') return locale;
  const wanted = negotiate(acceptLanguage)
    .languages()
    .find(each => /^es\b/i.test(each));
  return wanted && SPANISH_WITH_POINT.tags.test(wanted) ? SPANISH_WITH_POINT.locale : locale;
}

/**
 * The language of the checkout that a browser prefers; English where it prefers none of them.
 * @param acceptLanguage The header `Accept-Language`.
 */
export function preferredLanguage(acceptLanguage: string | undefined): LanguageTag {
  return preferredOf(acceptLanguage, LANGUAGE_TAGS) ?? 'en';
}
