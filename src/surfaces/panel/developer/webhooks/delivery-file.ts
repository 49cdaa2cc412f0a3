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
import { deliveriesOf } from './delivery-list.ts';
import type { EndpointPages } from './endpoint.ts';
import { DELIVERY_COLUMNS } from './export-columns.ts';
import { DeliveriesQuery, EndpointParams } from './forms.ts';
import { endpointPath, WEBHOOKS_PATH } from './paths.ts';

/** The file of an endpoint's deliveries. */
export function registerDeliveryFile(
  app: TypedApp,
  { clock, reports }: PanelDependencies,
  pages: EndpointPages,
  exports: Exports,
): void {
  const schema = { params: EndpointParams, querystring: DeliveriesQuery };
  const reading = withPermission('merchant', 'webhooks.read', schema);
  app.get(`${WEBHOOKS_PATH}/:endpointId/deliveries.csv`, reading, async (request, reply) => {
    requireOwnPage(request);
    const { id: endpointId, merchant_id: merchantId } = await pages.require(request);
    const { query } = request;
    const now = new Date(clock());
    const bounds = exportBounds(query, now);
    // The list says what is wrong with the days.
    if (bounds === null || faultOfDays(texts(request), query) !== null) {
      return redirectTo(addressOf(endpointPath(request), filtersIn(query)));
    }
    const filters = { status: query.status, createdFrom: bounds.from, createdTo: bounds.to };
    return exports.send(request, reply, {
      name: `deliveries-${utcDay(now)}.csv`,
      action: 'delivery.export',
      filters: { endpoint: endpointId, status: query.status, ...auditedBounds(bounds) },
      parts: csvParts(
        DELIVERY_COLUMNS,
        readAll(deliveriesOf(reports, { merchantId, endpointId }, filters)),
      ),
    });
  });
}
