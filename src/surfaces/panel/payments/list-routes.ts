import type { TypedApp } from '#http/typed-app.ts';
import { csvParts } from '#payments/csv.ts';
import { readPaymentPage, readPaymentPages, type WantedPayments } from '#payments/payment-pages.ts';
import { PART_MINIMUM } from '#payments/search-payments.ts';
import { readArrivals } from '#storage/repositories/deposits/deviations.ts';
import { SEARCH_WINDOW } from '#storage/repositories/payments/search.ts';
import { utcDay } from '#time/days.ts';
import { html } from '../../pages/html.ts';
import { membershipOf, withPermission } from '../hooks/access.ts';
import type { PanelDependencies } from '../hooks/dependencies.ts';
import { texts } from '../hooks/language.ts';
import { auditedBounds, exportBounds, renderDownload } from '../kit/export-days.ts';
import { EXPORT_PAGE, type Exports } from '../kit/exports.ts';
import { renderFilters } from '../kit/filters.ts';
import { count } from '../kit/format.ts';
import { filtersIn, renderList } from '../kit/list.ts';
import { ownPath, ownUrl } from '../kit/navigation.ts';
import { rememberNetworks } from '../kit/networks.ts';
import { addressOf } from '../kit/page-address.ts';
import { redirectTo } from '../kit/pages.ts';
import { receivedText, renderPayments } from '../kit/payment-table.ts';
import { renderAccounting } from './accounting.ts';
import { type ExportedPayment, PAYMENT_COLUMNS } from './export-columns.ts';
import { faultOfList, ListQuery, renderListFilters, strictBounds, wantedBy } from './list.ts';

const PATH = '/merchants/:accountId/payments';
const PAGE_SIZE = 25;

/** The list of a merchant's payments, and the file of what it shows. */
export function registerPaymentList(
  app: TypedApp,
  deps: PanelDependencies,
  exports: Exports,
): void {
  const { clock, publicUrl, reports } = deps;
  const readNetworks = rememberNetworks(reports);
  const schema = { querystring: ListQuery };

  app.get(PATH, withPermission('merchant', 'payments.read', schema), async request => {
    const { query } = request;
    const words = texts(request);
    const { title, first, noMatch, noneSearched, short } = words.payments;
    const url = ownUrl(request, '/payments');
    const fault = faultOfList(words, query);
    const filters = renderListFilters(words, await readNetworks(), query, fault);
    if (fault !== null) return { title, fault, content: renderFilters(words, url, filters) };
    const { accountId } = membershipOf(request);
    const place = { ...query, limit: PAGE_SIZE };
    const found = await readPaymentPage(reports, accountId, wantedBy(query), place);
    const { data: rows, isSearched, before, next } = found;
    const ids = rows.map(({ id }) => id);
    const arrivals = await readArrivals(reports, ids);
    // A search leads from a page to older ones alone, and back to the newest.
    const toNewest = isSearched && query.after !== undefined ? {} : null;
    const isShort = query.search !== undefined && [...query.search].length < PART_MINIMUM;
    const hint = isShort ? short(PART_MINIMUM) : null;
    const now = new Date(clock());
    const file = addressOf(`${url}.csv`, filtersIn(query));
    return {
      title,
      content: html`${renderList(words, {
        url,
        query,
        filters,
        page: {
          rows,
          newer: before === null ? toNewest : { before },
          older: next && { ...next },
        },
        render: payments =>
          html`${hint !== null && html`<p class="quiet">${hint}</p>`}${renderPayments(words, url, payments, arrivals)}`,
        none: first(`${publicUrl}/docs/quickstart`),
        noMatch: hint ?? noMatch,
        noneYet: noneSearched(count(words, SEARCH_WINDOW)),
        download: renderDownload(words, file, query, now),
      })}
${renderAccounting(request, deps)}`,
    };
  });

  const exporting = withPermission('merchant', 'payments.export', schema);
  app.get(`${PATH}.csv`, exporting, (request, reply) => {
    const { query } = request;
    const { accountId } = membershipOf(request);
    const now = new Date(clock());
    const bounds = exportBounds(query, now);
    // The list says what is wrong with its filters.
    if (bounds === null || faultOfList(texts(request), query) !== null) {
      return redirectTo(addressOf(ownPath(request, '/payments'), filtersIn(query)));
    }
    const { status, arrived: deviation, network, minimum, maximum, search } = query;
    const { filters, text } = wantedBy(query);
    const wanted = { filters: { ...filters, ...strictBounds(bounds) }, text };
    return exports.send(request, reply, {
      name: `payments-${utcDay(now)}.csv`,
      filters: { status, ...auditedBounds(bounds), deviation, network, minimum, maximum, search },
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
