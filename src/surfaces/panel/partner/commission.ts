import { Type } from '@sinclair/typebox';
import type { FastifyRequest } from 'fastify';
import type { TypedApp } from '#http/typed-app.ts';
import { csvParts } from '#payments/csv.ts';
import {
  type CommissionRow,
  readCommissionPage,
  readCommissionRows,
} from '#reports/partners/commission.ts';
import {
  COMMISSION_COLUMNS,
  commissionFileName,
  signCommission,
} from '#reports/partners/commission-file.ts';
import { Uuid } from '#schemas/scalars.ts';
import { isClosed, MONTH_PATTERN, utcMonth } from '#time/months.ts';
import { type Html, html } from '../../pages/html.ts';
import { membershipOf, withPermission } from '../hooks/access.ts';
import type { PanelDependencies } from '../hooks/dependencies.ts';
import { texts } from '../hooks/language.ts';
import { requireOwnPage } from '../hooks/same-origin.ts';
import type { PanelPage } from '../kit/document.ts';
import { EXPORT_PAGE, type Exports } from '../kit/exports.ts';
import { renderSelect } from '../kit/form.ts';
import { count, dollars } from '../kit/format.ts';
import { renderList } from '../kit/list.ts';
import { ownPath, ownUrl } from '../kit/navigation.ts';
import { addressOf } from '../kit/page-address.ts';
import { redirectTo } from '../kit/pages.ts';
import { renderTable } from '../kit/table.ts';
import type { PanelTexts } from '../texts/panel-texts.ts';

const PATH = '/partners/:accountId/commission';

const Month = Type.String({ pattern: MONTH_PATTERN });
const PageQuery = Type.Object({
  month: Type.Optional(Month),
  after: Type.Optional(Uuid('ID of the merchant that the page before ended with.')),
});
const FileQuery = Type.Object({ month: Type.Optional(Month) });

/** The commission of each month: a page, its file, and the file's signature. */
export function registerCommission(app: TypedApp, deps: PanelDependencies, exports: Exports): void {
  const { clock, db, keyring, publicUrl, reports } = deps;

  const reading = withPermission('partner', 'commission.read', { querystring: PageQuery });
  app.get(PATH, reading, request => {
    const { after, month = utcMonth(new Date(clock())) } = request.query;
    return commissionPage(request, deps, month, after);
  });

  const exporting = withPermission('partner', 'commission.export', { querystring: FileQuery });
  app.get(`${PATH}.csv`, exporting, (request, reply) => {
    requireOwnPage(request);
    const { month } = request.query;
    if (month === undefined) return redirectTo(ownPath(request, '/commission'));
    const { accountId } = membershipOf(request);
    return exports.send(request, reply, {
      name: commissionFileName(month),
      action: 'commission.export',
      filters: { month },
      parts: csvParts(
        COMMISSION_COLUMNS,
        readCommissionRows(reports, accountId, month, EXPORT_PAGE),
      ),
    });
  });

  app.get(`${PATH}.json`, exporting, (request, reply) => {
    requireOwnPage(request);
    const { month } = request.query;
    const { accountId } = membershipOf(request);
    // The page says why an unfinished month has no file.
    if (month === undefined || !isClosed(month, new Date(clock()))) {
      return redirectTo(addressOf(ownPath(request, '/commission'), { month }));
    }
    const signing = { db, reports, keyring, clock, publicUrl };
    return exports.sendSigned(request, reply, {
      name: `commission-${month}.json`,
      action: 'commission.evidence',
      objectId: accountId,
      detail: { month },
      sign: () => signCommission(signing, accountId, month),
    });
  });
}

const PAGE_SIZE = 50;

/**
 * A month's commission by merchant, and who owes it.
 * @param month YYYY-MM.
 * @param after ID of the merchant that the page before ended with.
 */
async function commissionPage(
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
