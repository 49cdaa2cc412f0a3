import { en } from './en/index.ts';
import { es } from './es/index.ts';
import type { PanelTexts } from './panel-texts.ts';

interface Language {
  /** The language's name in the language itself. */
  readonly name: string;
  readonly texts: PanelTexts;
}

/** By their BCP 47 tags, in the order in which they are offered. */
export const LANGUAGES: Readonly<Record<string, Language>> = {
  en: { name: 'English', texts: en },
  es: { name: 'Español', texts: es },
};

export const LANGUAGE_TAGS = Object.keys(LANGUAGES);

/** The texts in a language; English for null, and for a language that this release does not have. */
export function textsIn(tag: string | null): PanelTexts {
  const language = tag !== null && Object.hasOwn(LANGUAGES, tag) ? LANGUAGES[tag] : undefined;
  return (language ?? { texts: en }).texts;
}
