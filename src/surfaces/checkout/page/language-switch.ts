import { type Html, html } from '../../pages/html.ts';
import { LANGUAGE_TAGS, languageOf } from './texts/languages.ts';
import type { CheckoutView } from './view.ts';

/** Links to the page in all languages. The choice is in the URL, so that it needs no cookie. */
export function renderLanguages({ path, locale }: CheckoutView): Html {
  const links = LANGUAGE_TAGS.map(tag => {
    const current = tag === locale.tag && html` aria-current="true"`;
    return html`<li><a href="${path}?lang=${tag}" lang="${tag}" hreflang="${tag}" dir="${languageOf(tag).direction}"${current}>${languageOf(tag).name}</a></li>
`;
  });
  return html`<nav class="languages" aria-label="${locale.texts.language}"><ul>
${links}</ul></nav>`;
}
