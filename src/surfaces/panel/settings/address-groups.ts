import { type Html, html } from '../../pages/html.ts';

/** An address in groups of four, to be compared by eye; it is copied without the gaps. */
export function inGroups(address: string): Html {
  const groups = address.match(/.{1,4}/g) ?? [];
  return html`<code class="grouped">${groups.map(group => html`<span>${group}</span>`)}</code>`;
}
