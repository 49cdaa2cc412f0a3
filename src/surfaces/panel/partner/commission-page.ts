import type { CommissionPage, CommissionRow } from '#reports/partners/commission.ts';
import { html } from '../../pages/html.ts';
import type { PanelPage } from '../kit/document.ts';
import { renderSelect } from '../kit/form.ts';
import { count, dollars } from '../kit/format.ts';
import { addressOf } from '../kit/page-address.ts';
import { renderNoneFurther, renderTable } from '../kit/table.ts';
import { texts } from '../texts/index.ts';

const { commission: words } = texts.partner;

interface ShownMonth extends CommissionPage {
  /** YYYY-MM. */
  readonly month: string;
  /** Whether the rows are those of the first page. */
  readonly isFirst: boolean;
  readonly isClosed: boolean;
  /** Where the guides are. */
  readonly docsUrl: string;
}

/**
 * A month's commission by merchant, and who owes it.
 * @param path Of the partner's pages, with the base path.
 */
export function commissionPage(
  path: string,
  { month, isFirst, isClosed, docsUrl, rows, total, months, next }: ShownMonth,
): PanelPage {
  const url = `${path}/commission`;
  const offered = months.includes(month) ? months : [month, ...months];
  const figure = (name: string, value: string) =>
    html`<div><dt>${name}</dt><dd>${value}</dd></div>`;
  const owed =
    total.commissionCents > 0
      ? words.owed(month, dollars(total.commissionCents))
      : words.nothingOwed(month);
  return {
    title: words.title,
    content: html`<form method="get" action="${url}" class="filters">
${renderSelect(
  'month',
  words.month,
  offered.map(each => [each, each] as const),
  month,
)}
<button>${words.show}</button>
</form>
<p>${isClosed ? words.closed(rows.length) : words.open}</p>
<dl class="figures">
${figure(words.figures.payments, count(texts, total.payments))}
${figure(words.figures.volume, dollars(total.volumeCents))}
${figure(words.figures.commission, dollars(total.commissionCents))}
</dl>
<p>${owed} ${words.rule}</p>
${rows.length > 0 ? renderRows(path, rows) : isFirst ? html`<p>${words.none}</p>` : renderNoneFurther(texts, addressOf(url, { month }))}
<div class="buttons">${next !== null && html`<a href="${addressOf(url, { month, after: next })}" rel="next">${texts.lists.pages.next}</a>`}
<a href="${addressOf(`${url}.csv`, { month })}" download>${texts.lists.download}</a>
${isClosed && html`<a href="${addressOf(`${url}.json`, { month })}" download>${words.signature}</a> <a href="${docsUrl}/evidence#commission-of-a-month">${words.check}</a>`}</div>`,
  };
}

function renderRows(path: string, rows: readonly CommissionRow[]) {
  const { columns } = words;
  return renderTable<CommissionRow>(
    words.title,
    [
      {
        title: columns.merchant,
        // Merchants that have left the partner have no page of their own any more.
        cell: row =>
          html`<a href="${path}/payments?merchant=${row.merchantId}">${row.merchantName}</a>`,
      },
      {
        title: columns.payments,
        cell: row => count(texts, row.payments),
        number: true,
        secondary: true,
      },
      { title: columns.volume, cell: row => dollars(row.volumeCents), number: true },
      { title: columns.commission, cell: row => dollars(row.commissionCents), number: true },
      {
        title: columns.cents,
        cell: row => row.commissionCents,
        number: true,
        secondary: true,
      },
    ],
    rows,
  );
}
