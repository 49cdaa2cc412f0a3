import { type Html, html } from './html.ts';

/**
 * A `details` element, which opens without a script. By its IDs the script keeps it open, and keeps the focus
 * in it, when it replaces the page.
 */
export function renderDisclosure(id: string, title: string, content: Html, isOpen = false): Html {
  return html`<details id="${id}"${isOpen && html` open`}>
<summary id="${id}-title">${title}</summary>
${content}
</details>
`;
}
