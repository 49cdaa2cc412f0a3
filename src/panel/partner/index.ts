import { Type } from '@sinclair/typebox';
import type { FastifyRequest } from 'fastify';
import type { PartnerPaymentRow } from '#schemas/partner-reports.ts';
import { StringEnum, Uuid } from '#schemas/scalars.ts';
import { setPartner } from '../../accounts/partners.ts';
import type { TypedApp } from '../../http/typed-app.ts';
import { basePathOf } from '../../pages/base-path.ts';
import { html } from '../../pages/html.ts';
import { listMerchantReports, readMerchantReport } from '../../partners/merchant-reports.ts';
import { readFilters, readOverview } from '../../partners/overview.ts';
import {
  listPaymentReports,
  readPaymentReport,
  readPaymentReportPages,
} from '../../partners/payment-reports.ts';
import { countPartnerMerchants, findTestMerchants } from '../../repositories/partners/merchants.ts';
import { utcDay } from '../../time/days.ts';
import { isAllowed } from '../access/permissions.ts';
import { renderClosedCodes } from '../closed-codes.ts';
import type { PanelDependencies } from '../dependencies.ts';
import { EXPORT_PAGE, type Exports, exportBounds } from '../exports.ts';
import { faultOfDays, renderNoMatch } from '../filters.ts';
import { count } from '../format.ts';
import { membershipOf, operatorOf, sessionOf, withPermission } from '../hooks/access.ts';
import { accountPath } from '../navigation.ts';
import { leadTo } from '../pages.ts';
import { renderPaging } from '../table.ts';
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
  overviewPage,
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

  app.get(PATH, withPermission('partner', 'overview.read'), async request => {
    const { accountId, role } = membershipOf(request);
    const now = new Date(clock());
    const overview = await readOverview(reports, accountId, now);
    const page = overviewPage(urlOf(request), overview, isAllowed(role, 'merchants.read'));
    const notice = renderClosedCodes(sessionOf(request).person, now, basePathOf(panelUrl));
    return { ...page, content: html`${notice}${page.content}` };
  });

  const merchants = withPermission('partner', 'merchants.read', { querystring: MerchantsQuery });
  app.get(`${PATH}/merchants`, merchants, async request => {
    const { accountId } = membershipOf(request);
    const url = urlOf(request);
    const { action, search, page = 1 } = request.query;
    const { page: _, ...list } = request.query;
    const query = { ...toMerchantQuery(list), page, limit: PAGE_SIZE };
    const { data, total } = await listMerchantReports(reports, accountId, query, new Date(clock()));
    const address = (number: number) => partnerListUrl(`${url}/merchants`, list, number);
    const empty =
      search === undefined && action === undefined
        ? html`<p>${partnerTexts.merchants.none}</p>`
        : renderNoMatch(partnerTexts.merchants.noMatch, `${url}/merchants`);
    return {
      title: partnerTexts.merchants.title,
      lead: lists.total(count(total)),
      content: html`${renderMerchantFilters(`${url}/merchants`, list)}
${
  data.length === 0
    ? empty
    : renderMerchants(
        url,
        data,
        await findTestMerchants(
          reports,
          data.map(({ id }) => id),
        ),
      )
}
${renderPages(address, page, total)}`,
    };
  });

  const merchant = withPermission('partner', 'merchants.read', { params: MerchantParams });
  app.get(`${PATH}/merchants/:merchantId`, merchant, async request => {
    const { accountId } = membershipOf(request);
    const { merchantId } = request.params;
    const report = await readMerchantReport(reports, accountId, merchantId, new Date(clock()));
    return merchantPage(urlOf(request), report, await findTestMerchants(reports, [merchantId]));
  });

  const schema = { querystring: PartnerListQuery };
  app.get(`${PATH}/payments`, withPermission('partner', 'payments.read', schema), async request => {
    const { accountId } = membershipOf(request);
    const url = urlOf(request);
    const { page = 1, ...list } = request.query;
    const fault = faultOfDays(list);
    if (fault !== null) {
      const filters = await readFilters(reports, accountId);
      const content = renderPartnerFilters(`${url}/payments`, list, filters, fault);
      return { title: paymentTexts.title, fault, content };
    }
    const [filters, { data, total }] = await Promise.all([
      readFilters(reports, accountId),
      listPaymentReports(reports, accountId, { ...toReportQuery(list), page, limit: PAGE_SIZE }),
    ]);
    const address = (number: number) => partnerListUrl(`${url}/payments`, list, number);
    const isFiltered = Object.values(list).some(value => value !== undefined);
    const empty = isFiltered
      ? renderNoMatch(paymentTexts.noMatch, `${url}/payments`)
      : html`<p>${paymentTexts.none}</p>`;
    return {
      title: paymentTexts.title,
      lead: lists.total(count(total)),
      content: html`${renderPartnerFilters(`${url}/payments`, list, filters, null)}
${
  data.length === 0
    ? empty
    : renderPartnerPayments(
        url,
        data,
        await findTestMerchants(
          reports,
          data.map(({ merchantId }) => merchantId),
        ),
      )
}
<div class="buttons">${renderPages(address, page, total)}
<a href="${partnerListUrl(`${url}/payments.csv`, list)}" download>${lists.download}</a></div>`,
    };
  });

  const exporting = withPermission('partner', 'payments.export', schema);
  app.get(`${PATH}/payments.csv`, exporting, (request, reply) => {
    const { accountId } = membershipOf(request);
    const { page: _, ...list } = request.query;
    // The list says what is wrong with the days.
    if (faultOfDays(list) !== null) {
      const path = `${accountPath(membershipOf(request))}/payments`;
      return leadTo(partnerListUrl(path, list));
    }
    const { startDate: from, endDate: to, ...filters } = toReportQuery(list);
    const now = new Date(clock());
    const bounds = exportBounds({ from, to }, now);
    const wanted = { ...filters, startDate: bounds.from, endDate: bounds.to };
    return exports.send(request, reply, {
      name: `payments-${utcDay(now)}.csv`,
      columns: PARTNER_PAYMENT_COLUMNS,
      filters: { ...filters, from: list.from, to: list.to },
      pages: exported(readPaymentReportPages(reports, accountId, wanted, EXPORT_PAGE)),
    });
  });

  async function* exported(pages: AsyncIterable<readonly PartnerPaymentRow[]>) {
    for await (const rows of pages) {
      const tested = await findTestMerchants(
        reports,
        rows.map(({ merchantId }) => merchantId),
      );
      yield rows.map((row): ExportedPayment => {
        const environment = tested.has(row.merchantId) ? 'test' : 'live';
        return { ...row, environment };
      });
    }
  }

  const payment = withPermission('partner', 'payments.read', { params: PaymentParams });
  app.get(`${PATH}/payments/:paymentId`, payment, async request => {
    const { accountId } = membershipOf(request);
    const payment = await readPaymentReport(reports, accountId, request.params.paymentId);
    const tested = await findTestMerchants(reports, [payment.merchantId]);
    return partnerPaymentPage(urlOf(request), payment, tested);
  });

  registerCommission(app, deps, exports);

  app.get(`${PATH}/settings`, withPermission('partner', 'self-service.read'), async request => {
    const membership = membershipOf(request);
    const merchants = await countPartnerMerchants(reports, membership.accountId, {});
    const isOn = membership.kind === 'partner' && membership.selfService;
    return settingsPage(`${urlOf(request)}/settings`, isOn, merchants);
  });

  const switching = withPermission('partner', 'self-service.set', { body: SelfServiceForm });
  app.post(`${PATH}/settings/self-service`, switching, async request => {
    const membership = membershipOf(request);
    const selfService = request.body['self-service'] === 'on';
    await setPartner(operatorOf(request, deps), membership.accountId, { selfService });
    return leadTo(`${accountPath(membership)}/settings`);
  });
}

function renderPages(address: (page: number) => string, page: number, total: number) {
  const hasMore = page * PAGE_SIZE < total;
  return renderPaging(page > 1 ? address(page - 1) : null, hasMore ? address(page + 1) : null);
}
