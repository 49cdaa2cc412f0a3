import { Type } from '@sinclair/typebox';
import type { TypedApp } from '#http/typed-app.ts';
import { listMerchantReports, readMerchantReport } from '#reports/partners/merchant-reports.ts';
import { StringEnum, Uuid } from '#schemas/scalars.ts';
import { membershipOf, withPermission } from '../hooks/access.ts';
import type { PanelDependencies } from '../hooks/dependencies.ts';
import { texts } from '../hooks/language.ts';
import { renderChoice, renderSearch } from '../kit/filters.ts';
import { count } from '../kit/format.ts';
import { numberedPage, renderList } from '../kit/list.ts';
import { ownUrl } from '../kit/navigation.ts';
import { merchantPage, renderMerchants } from './merchant-views.ts';
import { Page, SearchText } from './payment-filters.ts';

const PATH = '/partners/:accountId/merchants';
const PAGE_SIZE = 25;
const MerchantsQuery = Type.Object({
  search: SearchText,
  action: Type.Optional(StringEnum(['required'], 'Only merchants whose onboarding is pending.')),
  page: Page,
});
const MerchantParams = Type.Object({ merchantId: Uuid('ID of the merchant.') });

/** The merchants of a partner, and each with its figures. */
export function registerMerchants(app: TypedApp, deps: PanelDependencies): void {
  const { clock, reports } = deps;
  const listing = withPermission('partner', 'merchants.read', { querystring: MerchantsQuery });
  app.get(PATH, listing, async request => {
    const words = texts(request);
    const { accountId } = membershipOf(request);
    const { action, page, search } = request.query;
    const wanted = {
      ...(search === undefined ? {} : { search }),
      ...(action === undefined ? {} : { actionRequired: true }),
      ...(page === undefined ? {} : { page }),
      limit: PAGE_SIZE,
    };
    const found = await listMerchantReports(reports, accountId, wanted, new Date(clock()));
    const { data, total, tested } = found;
    const { title, none, noMatch, actionRequired, ...labels } = words.partner.merchants;
    const url = ownUrl(request);
    return {
      title,
      ...(total === 0 ? {} : { lead: words.lists.total(count(words, total)) }),
      content: renderList(words, {
        url: `${url}/merchants`,
        query: request.query,
        filters: [
          renderSearch(words, labels.searchHint, search),
          renderChoice(words, 'action', labels.action, [['required', actionRequired]], action),
        ],
        page: numberedPage(data, { page, size: PAGE_SIZE, total }),
        render: rows => renderMerchants(words, url, rows, tested),
        none,
        noMatch,
      }),
    };
  });

  const reading = withPermission('partner', 'merchants.read', { params: MerchantParams });
  app.get(`${PATH}/:merchantId`, reading, async request => {
    const { accountId } = membershipOf(request);
    const { merchantId } = request.params;
    const found = await readMerchantReport(reports, accountId, merchantId, new Date(clock()));
    return merchantPage(texts(request), ownUrl(request), found.report, found.environment);
  });
}
