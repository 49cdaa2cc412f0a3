import type { FastifyRequest } from 'fastify';
import type { TypedApp } from '#http/typed-app.ts';
import { csvParts } from '#payments/csv.ts';
import { readPaymentPage, readPaymentPages, type WantedPayments } from '#payments/payment-pages.ts';
import { readArrivals } from '#storage/repositories/deposits/deviations.ts';
import { SEARCH_WINDOW } from '#storage/repositories/payments/search.ts';
import { utcDay } from '#time/days.ts';
import { basePathOf } from '../../pages/base-path.ts';
import { html } from '../../pages/html.ts';
import { membershipOf, withPermission } from '../hooks/access.ts';
import type { PanelDependencies } from '../hooks/dependencies.ts';
import { auditedBounds, exportBounds, renderDownload } from '../kit/export-days.ts';
import { EXPORT_PAGE, type Exports } from '../kit/exports.ts';
import { faultOfDays, renderNoMatch } from '../kit/filters.ts';
import { count } from '../kit/format.ts';
import { accountPath } from '../kit/navigation.ts';
import { redirectTo } from '../kit/pages.ts';
import { receivedText, renderPayments } from '../kit/payment-table.ts';
import { isFirstPage, renderNoneFurther } from '../kit/table.ts';
import { texts } from '../texts/index.ts';
import { renderAccounting } from './accounting.ts';
import { type ExportedPayment, PAYMENT_COLUMNS } from './export-columns.ts';
import {
  isFiltered,
  ListQuery,
  listUrl,
  renderListFilters,
  renderListPaging,
  strictBounds,
  wantedBy,
} from './list.ts';

const { payments: paymentTexts } = texts;

const PATH = '/merchants/:accountId/payments';
const PAGE_SIZE = 25;

/** The list of a merchant's payments, and the file of what it shows. */
export function registerPaymentList(
  app: TypedApp,
  deps: PanelDependencies,
  exports: Exports,
): void {
  const { clock, panelUrl, publicUrl, reports } = deps;
  const pathOf = (request: FastifyRequest) => `${accountPath(membershipOf(request))}/payments`;
  const schema = { querystring: ListQuery };

  app.get(PATH, withPermission('merchant', 'payments.read', schema), async request => {
    const list = request.query;
    const url = basePathOf(panelUrl) + pathOf(request);
    const fault = faultOfDays(texts, list);
    if (fault !== null) {
      return { title: paymentTexts.title, fault, content: renderListFilters(url, list, fault) };
    }
    const { accountId } = membershipOf(request);
    const place = { ...list, limit: PAGE_SIZE };
    const page = await readPaymentPage(reports, accountId, wantedBy(list), place);
    const { data, isSearched, next } = page;
    const ids = data.map(({ id }) => id);
    const renderEmpty = () => {
      if (isSearched && next !== null) {
        return html`<p>${paymentTexts.noneSearched(count(texts, SEARCH_WINDOW))}</p>`;
      }
      if (!isFirstPage(list)) return renderNoneFurther(texts, listUrl(url, list));
      return isFiltered(list)
        ? renderNoMatch(texts, paymentTexts.noMatch, url)
        : html`<p>${paymentTexts.first(`${publicUrl}/docs/quickstart`)}</p>`;
    };
    const hasNone = data.length === 0;
    const now = new Date(clock());
    return {
      title: paymentTexts.title,
      content: html`${(!hasNone || isFiltered(list)) && renderListFilters(url, list, null)}
${hasNone ? renderEmpty() : renderPayments(texts, url, data, await readArrivals(reports, ids))}
<div class="buttons">${renderListPaging(url, list, page)}
${(!hasNone || next !== null) && renderDownload(texts, listUrl(`${url}.csv`, list), list, now)}</div>
${renderAccounting(membershipOf(request), { url, docsUrl: `${publicUrl}/docs`, now })}`,
    };
  });

  const exporting = withPermission('merchant', 'payments.export', schema);
  app.get(`${PATH}.csv`, exporting, (request, reply) => {
    const list = request.query;
    const { accountId } = membershipOf(request);
    const now = new Date(clock());
    const bounds = exportBounds(list, now);
    // The list says what is wrong with the days.
    if (bounds === null || faultOfDays(texts, list) !== null) {
      return redirectTo(listUrl(pathOf(request), list));
    }
    const { status, arrived: deviation, search } = list;
    const { filters, text } = wantedBy(list);
    const wanted = { filters: { ...filters, ...strictBounds(bounds) }, text };
    return exports.send(request, reply, {
      name: `payments-${utcDay(now)}.csv`,
      filters: { status, ...auditedBounds(bounds), deviation, search },
      parts: csvParts(PAYMENT_COLUMNS, readAll(accountId, wanted)),
    });
  });

  async function* readAll(
    merchantId: string,
    wanted: WantedPayments,
  ): AsyncGenerator<readonly ExportedPayment[]> {
    for await (const payments of readPaymentPages(reports, merchantId, wanted, EXPORT_PAGE)) {
      const ids = payments.map(({ id }) => id);
      const arrivals = await readArrivals(reports, ids);
      yield payments.map(payment => ({
        ...payment,
        received: receivedText(arrivals.get(payment.id)),
      }));
    }
  }
}
