import type { TypedApp } from '#http/typed-app.ts';
import { csvParts } from '#payments/csv.ts';
import { utcDay } from '#time/days.ts';
import { withPermission } from '../../hooks/access.ts';
import type { PanelDependencies } from '../../hooks/dependencies.ts';
import { texts } from '../../hooks/language.ts';
import { requireOwnPage } from '../../hooks/same-origin.ts';
import { auditedBounds, exportBounds } from '../../kit/export-days.ts';
import { type Exports, readAll } from '../../kit/exports.ts';
import { faultOfDays } from '../../kit/filters.ts';
import { filtersIn } from '../../kit/list.ts';
import { addressOf } from '../../kit/page-address.ts';
import { redirectTo } from '../../kit/pages.ts';
import { registerEndpointChanges } from './changes.ts';
import { registerDeliveries } from './deliveries.ts';
import { deliveriesOf } from './delivery-list.ts';
import { endpointPath, WEBHOOKS_PATH as PATH, requireEndpoint } from './endpoint.ts';
import { endpointPage } from './endpoint-view.ts';
import { DELIVERY_COLUMNS } from './export-columns.ts';
import { DeliveriesQuery, EndpointParams } from './forms.ts';
import { endpointsPage } from './list.ts';
import { registerNewEndpoint } from './new-endpoint.ts';

/** The webhook endpoints of a merchant, and what was delivered to them. */
export function registerWebhooks(app: TypedApp, deps: PanelDependencies, exports: Exports): void {
  const { clock, reports } = deps;

  app.get(PATH, withPermission('merchant', 'webhooks.read'), request =>
    endpointsPage(request, deps),
  );

  const reading = withPermission('merchant', 'webhooks.read', {
    params: EndpointParams,
    querystring: DeliveriesQuery,
  });
  app.get(`${PATH}/:endpointId`, reading, async request => {
    const endpoint = await requireEndpoint(request, deps);
    return endpointPage(request, deps, endpoint, { wanted: request.query });
  });

  app.get(`${PATH}/:endpointId/deliveries.csv`, reading, async (request, reply) => {
    requireOwnPage(request);
    const { id: endpointId, merchant_id: merchantId } = await requireEndpoint(request, deps);
    const { query } = request;
    const now = new Date(clock());
    const bounds = exportBounds(query, now);
    // The list says what is wrong with the days.
    if (bounds === null || faultOfDays(texts(request), query) !== null) {
      return redirectTo(addressOf(endpointPath(request), filtersIn(query)));
    }
    const filters = { status: query.status, createdFrom: bounds.from, createdTo: bounds.to };
    const read = deliveriesOf(reports, { merchantId, endpointId }, filters);
    return exports.send(request, reply, {
      name: `deliveries-${utcDay(now)}.csv`,
      action: 'delivery.export',
      filters: { endpoint: endpointId, status: query.status, ...auditedBounds(bounds) },
      parts: csvParts(DELIVERY_COLUMNS, readAll(read)),
    });
  });

  registerNewEndpoint(app, deps);
  registerEndpointChanges(app, deps);
  registerDeliveries(app, deps);
}
