import { type Html, html } from '../pages/html.ts';

/**
 * Something that opens on demand, without a script. The script keeps it open, and the focus on it,
 * when it replaces the page by a newer one.
 */
export function renderDisclosure(id: string, title: string, content: Html, isOpen = false): Html {
  return html`<details id="${id}"${isOpen && html` open`}>
<summary id="${id}-title">${title}</summary>
${content}
</details>
`;
}
