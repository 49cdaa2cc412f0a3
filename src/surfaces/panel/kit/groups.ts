import { type Html, html } from '../../pages/html.ts';

/** A long text, such as an address, in groups of four, to be compared by eye; it is copied without the gaps. */
export function inGroups(text: string): Html {
  const groups = text.match(/.{1,4}/g) ?? [];
  return html`<code class="grouped">${groups.map(group => html`<span>${group}</span>`)}</code>`;
}
