import type { FastifyInstance, FastifyRequest } from 'fastify';
import type { PaymentObject } from '#schemas/payment.ts';
import { basePathOf } from '../../pages/base-path.ts';
import { type Html, html } from '../../pages/html.ts';
import { listPayments } from '../../payments/list-payments.ts';
import { type FoundPage, findPayments, type SearchCursor } from '../../payments/search-payments.ts';
import { readArrivals } from '../../repositories/deviations.ts';
import { SEARCH_WINDOW } from '../../repositories/payment-search.ts';
import { utcDay } from '../../time/days.ts';
import type { PanelDependencies } from '../dependencies.ts';
import { EXPORT_PAGE, type Exports, exportBounds } from '../exports.ts';
import { renderFault } from '../form.ts';
import { count } from '../format.ts';
import { membershipOf } from '../hooks/access.ts';
import { accountPath } from '../navigation.ts';
import { leadTo, sendPage } from '../pages.ts';
import { type ExportedPayment, PAYMENT_COLUMNS } from './export-columns.ts';
import {
  faultOfDays,
  isFiltered,
  isSearched,
  type ListRequest,
  listUrl,
  readListRequest,
  receivedText,
  renderFilters,
  renderListPaging,
  renderPayments,
  toFilters,
} from './list.ts';

const PATH = '/merchants/:accountId/payments';
const PAGE_SIZE = 25;

interface Page {
  readonly data: readonly PaymentObject[];
  readonly paging: Html | null;
  /** Whether there are older payments to search. */
  readonly goesOn: boolean;
}

/** The list of a merchant's payments, and the file of what it shows. */
export function registerPaymentList(
  app: FastifyInstance,
  deps: PanelDependencies,
  exports: Exports,
): void {
  const { clock, panelUrl, publicUrl, reports } = deps;
  const pathOf = (request: FastifyRequest) => `${accountPath(membershipOf(request))}/payments`;
  const rule = (permission: 'payments.read' | 'payments.export') => ({
    config: { panel: { for: 'merchant' as const, permission } },
  });

  app.get(PATH, rule('payments.read'), async (request, reply) => {
    const list = readListRequest(request.query as Record<string, unknown>);
    const url = basePathOf(panelUrl) + pathOf(request);
    const fault = faultOfDays(list);
    if (fault !== null) {
      const content = html`${renderFault(fault)}${renderFilters(url, list, fault)}`;
      return sendPage(request, reply, deps, { title: 'Payments', content }, 422);
    }
    const { data, paging, goesOn } = await readPage(membershipOf(request).accountId, url, list);
    const ids = data.map(({ id }) => id);
    const empty = goesOn
      ? html`<p>None among the ${count(SEARCH_WINDOW)} payments that were searched.</p>`
      : isFiltered(list)
        ? html`<p>No payment matches. <a href="${url}">Clear filters</a></p>`
        : html`<p>No payment yet. Create one with your API key, as the <a href="${publicUrl}/docs/quickstart">quickstart</a> shows.</p>`;
    return sendPage(request, reply, deps, {
      title: 'Payments',
      content: html`${renderFilters(url, list, null)}
${data.length === 0 ? empty : renderPayments(url, data, await readArrivals(reports, ids))}
<div class="buttons">${paging}
<a href="${listUrl(`${url}.csv`, list)}" download>Download as CSV</a></div>`,
    });
  });

  app.get(`${PATH}.csv`, rule('payments.export'), (request, reply) => {
    const list = readListRequest(request.query as Record<string, unknown>);
    const { accountId } = membershipOf(request);
    // The list says what is wrong with the days.
    if (faultOfDays(list) !== null) return leadTo(reply, panelUrl, listUrl(pathOf(request), list));
    const { status, from, to, deviation, search } = list;
    return exports.send(request, reply, {
      name: `payments-${utcDay(new Date(clock()))}.csv`,
      columns: PAYMENT_COLUMNS,
      filters: { status, from, to, deviation, search },
      pages: readAll(accountId, list),
    });
  });

  async function readPage(merchantId: string, url: string, list: ListRequest): Promise<Page> {
    if (!isSearched(list)) {
      const query = { limit: PAGE_SIZE, ...list.cursor };
      const { data, hasMore } = await listPayments(reports, merchantId, query, toFilters(list));
      return { data, paging: renderListPaging(url, list, data, hasMore), goesOn: false };
    }
    const wanted = { filters: toFilters(list), text: list.search };
    const place = { cursor: list.searchCursor, limit: PAGE_SIZE };
    const page = await findPayments(reports, merchantId, wanted, place);
    return {
      data: page.data,
      paging: renderGoingOn(url, list, page.next),
      goesOn: page.next !== null,
    };
  }

  async function* readAll(
    merchantId: string,
    list: ListRequest,
  ): AsyncGenerator<readonly ExportedPayment[]> {
    const filters = toFilters(list);
    const bounds = exportBounds(
      { from: filters.createdAfter, to: filters.createdBefore },
      new Date(clock() + 1),
    );
    const wanted = { ...filters, createdAfter: bounds.from, createdBefore: bounds.to };
    let cursor: SearchCursor | undefined;
    do {
      const page = await readExported(merchantId, list, wanted, cursor);
      const arrivals = await readArrivals(
        reports,
        page.data.map(({ id }) => id),
      );
      yield page.data.map(payment => ({
        ...payment,
        received: receivedText(arrivals.get(payment.id)),
      }));
      cursor = page.next ?? undefined;
    } while (cursor !== undefined);
  }

  async function readExported(
    merchantId: string,
    list: ListRequest,
    filters: ReturnType<typeof toFilters>,
    cursor: SearchCursor | undefined,
  ): Promise<FoundPage> {
    if (isSearched(list)) {
      const wanted = { filters, text: list.search };
      return findPayments(reports, merchantId, wanted, { cursor, limit: EXPORT_PAGE });
    }
    const after = cursor?.after;
    const query = { limit: EXPORT_PAGE, ...(after === undefined ? {} : { startingAfter: after }) };
    const { data, hasMore } = await listPayments(reports, merchantId, query, filters);
    const last = data.at(-1);
    return { data, next: hasMore && last !== undefined ? { after: last.id } : null };
  }
}

/** Links to the beginning and to what is searched next, as far as there are any. */
function renderGoingOn(url: string, list: ListRequest, next: SearchCursor | null): Html {
  const isFirst = list.searchCursor === undefined;
  return html`${!isFirst && html`<a href="${listUrl(url, list)}">Newest</a>`}
${next !== null && html`<a href="${listUrl(url, list, { ...next })}" rel="next">Older</a>`}`;
}
