import { Type } from '@sinclair/typebox';
import type { FastifyRequest } from 'fastify';
import { isChangeAllowed } from '#accounts/access/permissions.ts';
import { setPartner } from '#accounts/partners.ts';
import type { TypedApp } from '#http/typed-app.ts';
import { csvParts } from '#payments/csv.ts';
import { listMerchantReports, readMerchantReport } from '#reports/partners/merchant-reports.ts';
import { readFilters } from '#reports/partners/overview.ts';
import {
  listPaymentReports,
  readPaymentReport,
  readPaymentReportPages,
} from '#reports/partners/payment-reports.ts';
import { StringEnum, Uuid } from '#schemas/scalars.ts';
import { countPartnerMerchants } from '#storage/repositories/partners/merchants.ts';
import { utcDay } from '#time/days.ts';
import { basePathOf } from '../../pages/base-path.ts';
import { html } from '../../pages/html.ts';
import { membershipOf, operatorOf, withPermission } from '../hooks/access.ts';
import type { PanelDependencies } from '../hooks/dependencies.ts';
import { auditedBounds, exportBounds, renderDownload } from '../kit/export-days.ts';
import { EXPORT_PAGE, type Exports } from '../kit/exports.ts';
import { faultOfDays, renderNoMatch } from '../kit/filters.ts';
import { count } from '../kit/format.ts';
import { accountPath } from '../kit/navigation.ts';
import { redirectTo } from '../kit/pages.ts';
import { renderNoneFurther, renderPaging } from '../kit/table.ts';
import { texts } from '../texts/index.ts';
import { registerCommission } from './commission.ts';
import { type ExportedPayment, PARTNER_PAYMENT_COLUMNS } from './export-columns.ts';
import {
  MerchantsQuery,
  PartnerListQuery,
  partnerListUrl,
  renderMerchantFilters,
  renderPartnerFilters,
  toMerchantQuery,
  toReportQuery,
} from './filters.ts';
import {
  merchantPage,
  partnerPaymentPage,
  renderMerchants,
  renderPartnerPayments,
  settingsPage,
} from './views.ts';

const { lists, partner: partnerTexts, payments: paymentTexts } = texts;

const PATH = '/partners/:accountId';
const PAGE_SIZE = 25;
const MerchantParams = Type.Object({ merchantId: Uuid('ID of the merchant.') });
const PaymentParams = Type.Object({ paymentId: Uuid('ID of the payment.') });
const SelfServiceForm = Type.Object({
  'self-service': StringEnum(['on', 'off'], 'Whether merchants may use keys of their own.'),
});

/** What a partner sees of its merchants: the same reports as in the API. */
export function registerPartner(app: TypedApp, deps: PanelDependencies, exports: Exports): void {
  const { clock, panelUrl, reports } = deps;
  const urlOf = (request: FastifyRequest) =>
    basePathOf(panelUrl) + accountPath(membershipOf(request));

  const merchants = withPermission('partner', 'merchants.read', { querystring: MerchantsQuery });
  app.get(`${PATH}/merchants`, merchants, async request => {
    const { accountId } = membershipOf(request);
    const url = urlOf(request);
    const { action, search, page = 1 } = request.query;
    const { page: _, ...list } = request.query;
    const query = { ...toMerchantQuery(list), page, limit: PAGE_SIZE };
    const now = new Date(clock());
    const { data, total, tested } = await listMerchantReports(reports, accountId, query, now);
    const address = (number: number) => partnerListUrl(`${url}/merchants`, list, number);
    const isFiltered = search !== undefined || action !== undefined;
    const renderEmpty = () => {
      if (page > 1) return renderNoneFurther(texts, address(1));
      return isFiltered
        ? renderNoMatch(texts, partnerTexts.merchants.noMatch, `${url}/merchants`)
        : html`<p>${partnerTexts.merchants.none}</p>`;
    };
    return {
      title: partnerTexts.merchants.title,
      ...(total === 0 ? {} : { lead: lists.total(count(texts, total)) }),
      content: html`${(total > 0 || isFiltered) && renderMerchantFilters(`${url}/merchants`, list)}
${data.length === 0 ? renderEmpty() : renderMerchants(url, data, tested)}
${renderPages(address, page, total)}`,
    };
  });

  const merchant = withPermission('partner', 'merchants.read', { params: MerchantParams });
  app.get(`${PATH}/merchants/:merchantId`, merchant, async request => {
    const { accountId } = membershipOf(request);
    const { merchantId } = request.params;
    const found = await readMerchantReport(reports, accountId, merchantId, new Date(clock()));
    const tested = new Set(found.environment === 'test' ? [found.report.merchant.id] : []);
    return merchantPage(urlOf(request), found.report, tested);
  });

  const schema = { querystring: PartnerListQuery };
  app.get(`${PATH}/payments`, withPermission('partner', 'payments.read', schema), async request => {
    const { accountId } = membershipOf(request);
    const url = urlOf(request);
    const { page = 1, ...list } = request.query;
    const fault = faultOfDays(texts, list);
    if (fault !== null) {
      const filters = await readFilters(reports, accountId);
      const content = renderPartnerFilters(`${url}/payments`, list, filters, fault);
      return { title: paymentTexts.title, fault, content };
    }
    const [filters, { data, total, tested }] = await Promise.all([
      readFilters(reports, accountId),
      listPaymentReports(reports, accountId, { ...toReportQuery(list), page, limit: PAGE_SIZE }),
    ]);
    const address = (number: number) => partnerListUrl(`${url}/payments`, list, number);
    const isFiltered = Object.values(list).some(value => value !== undefined);
    const renderEmpty = () => {
      if (page > 1) return renderNoneFurther(texts, address(1));
      return isFiltered
        ? renderNoMatch(texts, paymentTexts.noMatch, `${url}/payments`)
        : html`<p>${paymentTexts.none}</p>`;
    };
    return {
      title: paymentTexts.title,
      ...(total === 0 ? {} : { lead: lists.total(count(texts, total)) }),
      content: html`${(total > 0 || isFiltered) && renderPartnerFilters(`${url}/payments`, list, filters, null)}
${data.length === 0 ? renderEmpty() : renderPartnerPayments(url, data, tested)}
<div class="buttons">${renderPages(address, page, total)}
${total > 0 && renderDownload(texts, partnerListUrl(`${url}/payments.csv`, list), list, new Date(clock()))}</div>`,
    };
  });

  const exporting = withPermission('partner', 'payments.export', schema);
  app.get(`${PATH}/payments.csv`, exporting, (request, reply) => {
    const { accountId } = membershipOf(request);
    const { page: _, ...list } = request.query;
    const now = new Date(clock());
    const bounds = exportBounds(list, now);
    // The list says what is wrong with the days.
    if (bounds === null || faultOfDays(texts, list) !== null) {
      const path = `${accountPath(membershipOf(request))}/payments`;
      return redirectTo(partnerListUrl(path, list));
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

  async function* exported(pages: ReturnType<typeof readPaymentReportPages>) {
    for await (const { data, tested } of pages) {
      yield data.map((row): ExportedPayment => {
        const environment = tested.has(row.merchantId) ? 'test' : 'live';
        return { ...row, environment };
      });
    }
  }

  const payment = withPermission('partner', 'payments.read', { params: PaymentParams });
  app.get(`${PATH}/payments/:paymentId`, payment, async request => {
    const { accountId } = membershipOf(request);
    const { paymentId } = request.params;
    const { report, tested } = await readPaymentReport(reports, accountId, paymentId);
    return partnerPaymentPage(urlOf(request), report, tested);
  });

  registerCommission(app, deps, exports);

  app.get(`${PATH}/settings`, withPermission('partner', 'self-service.read'), async request => {
    const membership = membershipOf(request);
    const merchants = await countPartnerMerchants(reports, membership.accountId, {});
    const isOn = membership.kind === 'partner' && membership.selfService;
    return settingsPage(`${urlOf(request)}/settings`, {
      isOn,
      merchants,
      maySwitch: isChangeAllowed(membership, 'self-service.set'),
    });
  });

  const switching = withPermission('partner', 'self-service.set', { body: SelfServiceForm });
  app.post(`${PATH}/settings/self-service`, switching, async request => {
    const membership = membershipOf(request);
    const selfService = request.body['self-service'] === 'on';
    await setPartner(operatorOf(request, deps), membership.accountId, { selfService });
    return redirectTo(`${accountPath(membership)}/settings`);
  });
}

/** Links to the pages before and after this one; none beyond the last page, which links back to the first. */
function renderPages(address: (page: number) => string, page: number, total: number) {
  if (page > 1 && (page - 1) * PAGE_SIZE >= total) return null;
  const hasMore = page * PAGE_SIZE < total;
  return renderPaging(
    texts,
    page > 1 ? address(page - 1) : null,
    hasMore ? address(page + 1) : null,
  );
}
