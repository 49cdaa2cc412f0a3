import { type Html, html } from '../../pages/html.ts';
import type { PanelTexts } from '../texts/panel-texts.ts';

/**
 * A button that copies a text of the page. It needs the script, which shows it.
 * @param id ID of the element with the text.
 * @param what Names what is copied, where a page has several buttons.
 */
export function renderCopyButton({ shell }: PanelTexts, id: string, what?: string): Html {
  return html`<button type="button" class="plain copy" data-copy="${id}"${what !== undefined && html` aria-label="${shell.copyWhat(what)}"`} hidden>${shell.copy}</button>`;
}

interface Copied {
  /** ID of its element. */
  readonly id: string;
  /** What it is. */
  readonly name: string;
  readonly value: string;
  /** A page about it on another site; null for none. */
  readonly link?: string | null;
}

/** A value within a line, which can be copied. */
export function renderCopied(words: PanelTexts, { id, name, value, link = null }: Copied): Html {
  const code = html`<code id="${id}">${value}</code>`;
  const shown = link === null ? code : html`<a href="${link}" rel="noreferrer">${code}</a>`;
  return html`${shown} ${renderCopyButton(words, id, name)}`;
}
