import { type Html, html } from './html.ts';

/**
 * A `details` element, which opens without a script. Its IDs let the script keep it open and focused when it replaces
 * the page.
 */
export function renderDisclosure(id: string, title: string, content: Html, isOpen = false): Html {
  return html`<details id="${id}"${isOpen && html` open`}>
<summary id="${id}-title">${title}</summary>
${content}
</details>
`;
}
