import { Type } from '@sinclair/typebox';
import type { FastifyRequest } from 'fastify';
import { StringEnum, Uuid } from '#schemas/scalars.ts';
import { setPartner } from '../../accounts/partners.ts';
import type { TypedApp } from '../../http/typed-app.ts';
import { basePathOf } from '../../pages/base-path.ts';
import { html } from '../../pages/html.ts';
import { listMerchantReports, readMerchantReport } from '../../partners/merchant-reports.ts';
import { readFilters, readOverview, readTeam } from '../../partners/overview.ts';
import {
  listPaymentReports,
  readPaymentReport,
  readPaymentReportPages,
} from '../../partners/payment-reports.ts';
import { utcDay } from '../../time/days.ts';
import { isAllowed, type Permission } from '../access/permissions.ts';
import { renderClosedCodes } from '../closed-codes.ts';
import type { PanelDependencies } from '../dependencies.ts';
import { EXPORT_PAGE, type Exports, exportBounds } from '../exports.ts';
import { renderFault, renderField } from '../form.ts';
import { count } from '../format.ts';
import { membershipOf, operatorOf, sessionOf } from '../hooks/access.ts';
import { accountPath } from '../navigation.ts';
import { leadTo, sendPage } from '../pages.ts';
import { faultOfDays } from '../payments/list.ts';
import { renderPaging } from '../table.ts';
import { PARTNER_PAYMENT_COLUMNS } from './export-columns.ts';
import {
  MerchantsQuery,
  PartnerListQuery,
  partnerListUrl,
  renderPartnerFilters,
  toReportQuery,
} from './filters.ts';
import {
  merchantPage,
  overviewPage,
  partnerPaymentPage,
  renderMerchants,
  renderPartnerPayments,
  settingsPage,
  teamPage,
} from './views.ts';

const PATH = '/partners/:accountId';
const PAGE_SIZE = 25;

const MerchantParams = Type.Object({ merchantId: Uuid('ID of the merchant.') });
const PaymentParams = Type.Object({ paymentId: Uuid('ID of the payment.') });
const SelfServiceForm = Type.Object({
  'self-service': StringEnum(['on', 'off'], 'Whether merchants may use keys of their own.'),
});

/** What a partner sees of its merchants, by the functions that answer its reports in the API. */
export function registerPartner(app: TypedApp, deps: PanelDependencies, exports: Exports): void {
  const { clock, db, panelUrl, reports } = deps;
  const rule = (permission: Permission) => ({
    config: { panel: { for: 'partner' as const, permission } },
  });
  const urlOf = (request: FastifyRequest) =>
    basePathOf(panelUrl) + accountPath(membershipOf(request));

  app.get(PATH, rule('overview.read'), async (request, reply) => {
    const { accountId, role } = membershipOf(request);
    const now = new Date(clock());
    const overview = await readOverview(reports, accountId, now);
    const page = overviewPage(urlOf(request), overview, isAllowed(role, 'merchants.read'));
    const notice = renderClosedCodes(sessionOf(request).person, now, basePathOf(panelUrl));
    return sendPage(request, reply, deps, { ...page, content: html`${notice}${page.content}` });
  });

  const merchants = { ...rule('merchants.read'), schema: { querystring: MerchantsQuery } };
  app.get(`${PATH}/merchants`, merchants, async (request, reply) => {
    const { accountId } = membershipOf(request);
    const url = urlOf(request);
    const { search, page = 1 } = request.query;
    const query = { ...request.query, page, limit: PAGE_SIZE };
    const { data, total } = await listMerchantReports(reports, accountId, query, new Date(clock()));
    const address = (number: number) => partnerListUrl(`${url}/merchants`, request.query, number);
    const empty =
      search === undefined
        ? html`<p>No merchants yet. Your operator links merchants to a partner.</p>`
        : html`<p>No merchant matches. <a href="${url}/merchants">Clear filters</a></p>`;
    return sendPage(request, reply, deps, {
      title: 'Merchants',
      lead: `${count(total)} in all`,
      content: html`<form method="get" action="${url}/merchants" class="filters" role="search">
${renderField({ name: 'search', label: 'Search', placeholder: 'Name, e-mail or ID', type: 'search', value: search ?? '', required: false }, null)}
<button>Filter</button></form>
${data.length === 0 ? empty : renderMerchants(url, data)}
${renderPages(address, page, total)}`,
    });
  });

  const merchant = { ...rule('merchants.read'), schema: { params: MerchantParams } };
  app.get(`${PATH}/merchants/:merchantId`, merchant, async (request, reply) => {
    const { accountId } = membershipOf(request);
    const { merchantId } = request.params;
    const report = await readMerchantReport(reports, accountId, merchantId, new Date(clock()));
    return sendPage(request, reply, deps, merchantPage(urlOf(request), report));
  });

  const schema = { querystring: PartnerListQuery };
  app.get(`${PATH}/payments`, { ...rule('payments.read'), schema }, async (request, reply) => {
    const { accountId } = membershipOf(request);
    const url = urlOf(request);
    const { page = 1, ...list } = request.query;
    const fault = faultOfDays(list);
    if (fault !== null) {
      const filters = await readFilters(reports, accountId);
      const content = html`${renderFault(fault)}${renderPartnerFilters(`${url}/payments`, list, filters, fault)}`;
      return sendPage(request, reply, deps, { title: 'Payments', content }, 422);
    }
    const [filters, { data, total }] = await Promise.all([
      readFilters(reports, accountId),
      listPaymentReports(reports, accountId, { ...toReportQuery(list), page, limit: PAGE_SIZE }),
    ]);
    const address = (number: number) => partnerListUrl(`${url}/payments`, list, number);
    const isFiltered = Object.values(list).some(value => value !== undefined);
    const empty = isFiltered
      ? html`<p>No payment matches. <a href="${url}/payments">Clear filters</a></p>`
      : html`<p>No payment yet.</p>`;
    return sendPage(request, reply, deps, {
      title: 'Payments',
      lead: `${count(total)} in all`,
      content: html`${renderPartnerFilters(`${url}/payments`, list, filters, null)}
${data.length === 0 ? empty : renderPartnerPayments(url, data)}
<div class="buttons">${renderPages(address, page, total)}
<a href="${partnerListUrl(`${url}/payments.csv`, list)}" download>Download as CSV</a></div>`,
    });
  });

  app.get(`${PATH}/payments.csv`, { ...rule('payments.export'), schema }, (request, reply) => {
    const { accountId } = membershipOf(request);
    const list = request.query;
    // The list says what is wrong with the days.
    if (faultOfDays(list) !== null) {
      const path = `${accountPath(membershipOf(request))}/payments`;
      return leadTo(reply, panelUrl, partnerListUrl(path, list));
    }
    const { startDate: from, endDate: to, ...filters } = toReportQuery(list);
    const now = new Date(clock());
    const bounds = exportBounds({ from, to }, now);
    const wanted = { ...filters, startDate: bounds.from, endDate: bounds.to };
    return exports.send(request, reply, {
      name: `payments-${utcDay(now)}.csv`,
      columns: PARTNER_PAYMENT_COLUMNS,
      filters: { ...filters, from: list.from, to: list.to },
      pages: readPaymentReportPages(reports, accountId, wanted, EXPORT_PAGE),
    });
  });

  const payment = { ...rule('payments.read'), schema: { params: PaymentParams } };
  app.get(`${PATH}/payments/:paymentId`, payment, async (request, reply) => {
    const { accountId } = membershipOf(request);
    const payment = await readPaymentReport(reports, accountId, request.params.paymentId);
    return sendPage(request, reply, deps, partnerPaymentPage(urlOf(request), payment));
  });

  app.get(`${PATH}/team`, rule('team.read'), async (request, reply) => {
    const team = await readTeam(reports, membershipOf(request).accountId);
    return sendPage(request, reply, deps, teamPage(team));
  });

  app.get(`${PATH}/settings`, rule('self-service.read'), async (request, reply) => {
    const membership = membershipOf(request);
    const { metrics } = await readOverview(reports, membership.accountId, new Date(clock()));
    const isOn = membership.kind === 'partner' && membership.selfService;
    const page = settingsPage(`${urlOf(request)}/settings`, isOn, metrics.totalMerchants);
    return sendPage(request, reply, deps, page);
  });

  const selfService = { ...rule('self-service.set'), schema: { body: SelfServiceForm } };
  app.post(`${PATH}/settings/self-service`, selfService, async (request, reply) => {
    const { accountId } = membershipOf(request);
    const operator = operatorOf(request, db, clock);
    await setPartner(operator, accountId, { selfService: request.body['self-service'] === 'on' });
    return leadTo(reply, panelUrl, `${accountPath(membershipOf(request))}/settings`);
  });
}

function renderPages(address: (page: number) => string, page: number, total: number) {
  const hasMore = page * PAGE_SIZE < total;
  return renderPaging(page > 1 ? address(page - 1) : null, hasMore ? address(page + 1) : null);
}
