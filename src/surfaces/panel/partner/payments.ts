import { Type } from '@sinclair/typebox';
import type { TypedApp } from '#http/typed-app.ts';
import { csvParts } from '#payments/csv.ts';
import { readFilters } from '#reports/partners/overview.ts';
import {
  listPaymentReports,
  readPaymentReport,
  readPaymentReportPages,
} from '#reports/partners/payment-reports.ts';
import { Uuid } from '#schemas/scalars.ts';
import { utcDay } from '#time/days.ts';
import { membershipOf, withPermission } from '../hooks/access.ts';
import type { PanelDependencies } from '../hooks/dependencies.ts';
import { texts } from '../hooks/language.ts';
import { auditedBounds, exportBounds, renderDownload } from '../kit/export-days.ts';
import { EXPORT_PAGE, type Exports } from '../kit/exports.ts';
import { faultOfDays, renderFilters } from '../kit/filters.ts';
import { count } from '../kit/format.ts';
import { filtersIn, numberedPage, renderList } from '../kit/list.ts';
import { ownPath, ownUrl } from '../kit/navigation.ts';
import { addressOf } from '../kit/page-address.ts';
import { redirectTo } from '../kit/pages.ts';
import { type ExportedPayment, PARTNER_PAYMENT_COLUMNS } from './export-columns.ts';
import { PartnerListQuery, renderPartnerFilters, toReportQuery } from './payment-filters.ts';
import { partnerPaymentPage, renderPartnerPayments } from './payment-views.ts';

const PATH = '/partners/:accountId/payments';
const PAGE_SIZE = 25;
const PaymentParams = Type.Object({ paymentId: Uuid('ID of the payment.') });

/** The payments of a partner's merchants, and the file of what their list shows. */
export function registerPartnerPayments(
  app: TypedApp,
  deps: PanelDependencies,
  exports: Exports,
): void {
  const { clock, reports } = deps;
  const schema = { querystring: PartnerListQuery };

  app.get(PATH, withPermission('partner', 'payments.read', schema), async request => {
    const words = texts(request);
    const { title, none, noMatch } = words.payments;
    const { accountId } = membershipOf(request);
    const url = ownUrl(request, '/payments');
    const list = request.query;
    const { page = 1 } = list;
    const wanted = { ...toReportQuery(list), page, limit: PAGE_SIZE };
    const fault = faultOfDays(words, list);
    const [choices, found] = await Promise.all([
      readFilters(reports, accountId),
      fault === null ? listPaymentReports(reports, accountId, wanted) : null,
    ]);
    const filters = renderPartnerFilters(words, list, choices, fault);
    if (found === null) return { title, fault, content: renderFilters(words, url, filters) };
    const { data, total, tested } = found;
    const file = addressOf(`${url}.csv`, filtersIn(list));
    return {
      title,
      ...(total === 0 ? {} : { lead: words.lists.total(count(words, total)) }),
      content: renderList(words, {
        url,
        query: list,
        filters,
        page: numberedPage(data, { page, size: PAGE_SIZE, total }),
        render: rows => renderPartnerPayments(words, ownUrl(request), rows, tested),
        none,
        noMatch,
        download: renderDownload(words, file, list, new Date(clock())),
      }),
    };
  });

  const exporting = withPermission('partner', 'payments.export', schema);
  app.get(`${PATH}.csv`, exporting, (request, reply) => {
    const { accountId } = membershipOf(request);
    const list = request.query;
    const now = new Date(clock());
    const bounds = exportBounds(list, now);
    // The list says what is wrong with the days.
    if (bounds === null || faultOfDays(texts(request), list) !== null) {
      return redirectTo(addressOf(ownPath(request, '/payments'), filtersIn(list)));
    }
    const wanted = { ...toReportQuery(list), startDate: bounds.from, endDate: bounds.to };
    const { startDate: _from, endDate: _to, ...filters } = wanted;
    return exports.send(request, reply, {
      name: `payments-${utcDay(now)}.csv`,
      filters: { ...filters, ...auditedBounds(bounds) },
      parts: csvParts(
        PARTNER_PAYMENT_COLUMNS,
        exported(readPaymentReportPages(reports, accountId, wanted, EXPORT_PAGE)),
      ),
    });
  });

  const reading = withPermission('partner', 'payments.read', { params: PaymentParams });
  app.get(`${PATH}/:paymentId`, reading, async request => {
    const { accountId } = membershipOf(request);
    const { paymentId } = request.params;
    const { report, tested } = await readPaymentReport(reports, accountId, paymentId);
    return partnerPaymentPage(texts(request), ownUrl(request), report, tested);
  });
}

async function* exported(pages: ReturnType<typeof readPaymentReportPages>) {
  for await (const { data, tested } of pages) {
    yield data.map((row): ExportedPayment => {
      const environment = tested.has(row.merchantId) ? 'test' : 'live';
      return { ...row, environment };
    });
  }
}
