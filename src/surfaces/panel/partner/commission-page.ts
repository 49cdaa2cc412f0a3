import type { FastifyRequest } from 'fastify';
import { type CommissionRow, readCommissionPage } from '#reports/partners/commission.ts';
import { isClosed } from '#time/months.ts';
import { type Html, html } from '../../pages/html.ts';
import { membershipOf } from '../hooks/access.ts';
import type { PanelDependencies } from '../hooks/dependencies.ts';
import { texts } from '../hooks/language.ts';
import type { PanelPage } from '../kit/document.ts';
import { renderSelect } from '../kit/form.ts';
import { count, dollars } from '../kit/format.ts';
import { renderList } from '../kit/list.ts';
import { ownUrl } from '../kit/navigation.ts';
import { addressOf } from '../kit/page-address.ts';
import { renderTable } from '../kit/table.ts';
import type { PanelTexts } from '../texts/panel-texts.ts';

const PAGE_SIZE = 50;

/**
 * A month's commission by merchant, and who owes it.
 * @param month YYYY-MM.
 * @param after ID of the merchant that the page before ended with.
 */
export async function commissionPage(
  request: FastifyRequest,
  deps: PanelDependencies,
  month: string,
  after: string | undefined,
): Promise<PanelPage> {
  const words = texts(request);
  const now = new Date(deps.clock());
  const { accountId } = membershipOf(request);
  const window = { after, limit: PAGE_SIZE, now };
  const found = await readCommissionPage(deps.reports, accountId, month, window);
  const { rows, total, months, next } = found;
  const docsUrl = `${deps.publicUrl}/docs`;
  const path = ownUrl(request);
  const { commission } = words.partner;
  const url = `${path}/commission`;
  const offered = months.includes(month) ? months : [month, ...months];
  const figure = (name: string, value: string) =>
    html`<div><dt>${name}</dt><dd>${value}</dd></div>`;
  const owed =
    total.commissionCents > 0
      ? commission.owed(month, dollars(total.commissionCents))
      : commission.nothingOwed(month);
  return {
    title: commission.title,
    content: html`<form method="get" action="${url}" class="filters">
${renderSelect(
  'month',
  commission.month,
  offered.map(each => [each, each] as const),
  month,
)}
<button>${commission.show}</button>
</form>
<p>${isClosed(month, now) ? commission.closed(rows.length) : commission.open}</p>
<dl class="figures">
${figure(commission.figures.payments, count(words, total.payments))}
${figure(commission.figures.volume, dollars(total.volumeCents))}
${figure(commission.figures.commission, dollars(total.commissionCents))}
</dl>
<p>${owed} ${commission.rule}</p>
${renderList(words, {
  url,
  query: { month, after },
  page: { rows, newer: null, older: next === null ? null : { after: next } },
  render: shown => renderRows(words, path, shown),
  more: words.lists.pages.next,
  none: commission.none,
})}
<div class="buttons"><a href="${addressOf(`${url}.csv`, { month })}" download>${words.lists.download}</a>
${isClosed(month, now) && html`<a href="${addressOf(`${url}.json`, { month })}" download>${commission.signature}</a> <a href="${docsUrl}/evidence#commission-of-a-month">${commission.check}</a>`}</div>`,
  };
}

function renderRows(words: PanelTexts, path: string, rows: readonly CommissionRow[]): Html {
  const { columns, title } = words.partner.commission;
  return renderTable<CommissionRow>(
    title,
    [
      {
        title: columns.merchant,
        // Merchants that have left the partner have no page of their own any more.
        cell: row =>
          html`<a href="${path}/payments?merchant=${row.merchantId}">${row.merchantName}</a>`,
      },
      {
        title: columns.payments,
        cell: row => count(words, row.payments),
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
