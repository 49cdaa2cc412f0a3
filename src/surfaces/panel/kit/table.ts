import { type Html, html } from '../../pages/html.ts';
import type { PanelTexts } from '../texts/panel-texts.ts';

export interface Column<T> {
  readonly title: string;
  readonly cell: (row: T) => Html | string | number | null;
  /** Numbers are aligned to the right. */
  readonly number?: true;
  /** Shown below the first column on a phone, with its title. */
  readonly secondary?: true;
}

/** A table, which scrolls if it is wider than the page. Its first column names the row. */
export function renderTable<T>(
  label: string,
  columns: readonly Column<T>[],
  rows: readonly T[],
): Html {
  const classOf = ({ number, secondary }: Column<T>) =>
    [number && 'number', secondary && 'secondary'].filter(Boolean).join(' ');
  const attribute = (column: Column<T>) => {
    const names = classOf(column);
    return names !== '' && html` class="${names}"`;
  };
  return html`<div class="scroll" role="region" aria-label="${label}" tabindex="0"><table>
<thead><tr>${columns.map(column => html`<th scope="col"${attribute(column)}>${column.title}</th>`)}</tr></thead>
<tbody>${rows.map(
    row =>
      html`<tr>${columns.map((column, index) =>
        index === 0
          ? html`<th scope="row"${attribute(column)}>${column.cell(row)}${renderBelow(columns, row)}</th>`
          : html`<td${attribute(column)}>${column.cell(row)}</td>`,
      )}</tr>
`,
  )}</tbody>
</table></div>`;
}

/** What a phone shows of the secondary columns: there is no room for them beside the others. */
function renderBelow<T>(columns: readonly Column<T>[], row: T): Html[] {
  return columns.flatMap(({ title, cell, secondary }) => {
    const content = secondary === true ? cell(row) : null;
    const isEmpty = html`${content}`.markup === '';
    return isEmpty ? [] : [html`<div class="below"><span>${title}</span> ${content}</div>`];
  });
}

/** Links to the pages before and after, if there are any; of newer and of older rows unless labelled otherwise. */
export function renderPaging(
  { lists: { pages } }: PanelTexts,
  newer: string | null,
  older: string | null,
  labels = { newer: pages.newer, older: pages.older },
): Html | null {
  if (newer === null && older === null) return null;
  return html`<nav class="buttons" aria-label="${pages.title}">${
    newer !== null && html`<a href="${newer}" rel="prev">${labels.newer}</a>`
  }
${older !== null && html`<a href="${older}" rel="next">${labels.older}</a>`}</nav>`;
}

/**
 * Shown instead of a page beyond the last, with a link to the first.
 * @param url Of the first page, with its filters.
 */
export function renderNoneFurther({ lists: { pages } }: PanelTexts, url: string): Html {
  return html`<p>${pages.noneFurther} <a href="${url}">${pages.first}</a></p>`;
}

/** The facts of an object, each with its name; those that are null are left out. */
export function renderFacts(facts: readonly (readonly [string, Html | string | null])[]): Html {
  return html`<dl class="facts">${facts
    .filter(([, value]) => value !== null)
    .map(([name, value]) => html`<dt>${name}</dt><dd>${value}</dd>`)}</dl>`;
}
