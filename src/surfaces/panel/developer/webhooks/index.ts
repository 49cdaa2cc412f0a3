import { isAllowed, isChangeAllowed } from '#accounts/access/permissions.ts';
import type { TypedApp } from '#http/typed-app.ts';
import { ENDPOINTS_MAXIMUM } from '#payments/webhooks/manage-endpoints.ts';
import { listOwnEndpoints } from '#storage/repositories/webhooks/endpoints.ts';
import { basePathOf } from '../../../pages/base-path.ts';
import { membershipOf, withPermission } from '../../hooks/access.ts';
import type { PanelDependencies } from '../../hooks/dependencies.ts';
import { texts } from '../../hooks/language.ts';
import type { Exports } from '../../kit/exports.ts';
import { registerEndpointChanges } from './changes.ts';
import { registerDeliveries } from './deliveries.ts';
import { registerDeliveryFile } from './delivery-file.ts';
import { EndpointPages, readTroubled } from './endpoint.ts';
import { DeliveriesQuery, EndpointParams } from './forms.ts';
import { endpointsPage } from './list.ts';
import { registerNewEndpoint } from './new-endpoint.ts';
import { WEBHOOKS_PATH as PATH, webhooksPath } from './paths.ts';

/** Most endpoints in the list, including disabled ones. */
const ENDPOINTS_SHOWN = 100;

/** The webhook endpoints of a merchant, and what was delivered to them. */
export function registerWebhooks(app: TypedApp, deps: PanelDependencies, exports: Exports): void {
  const { clock, db, panelUrl, publicUrl } = deps;
  const pages = new EndpointPages(deps);

  app.get(PATH, withPermission('merchant', 'webhooks.read'), async request => {
    const membership = membershipOf(request);
    const { accountId } = membership;
    const [endpoints, troubled] = await Promise.all([
      listOwnEndpoints(db, accountId, ENDPOINTS_SHOWN),
      readTroubled(deps, accountId),
    ]);
    return endpointsPage(texts(request), endpoints, {
      url: basePathOf(panelUrl) + webhooksPath(request),
      publicUrl,
      now: new Date(clock()),
      failing: new Set(troubled.map(({ id }) => id)),
      left: ENDPOINTS_MAXIMUM - endpoints.filter(each => each.disabled_at === null).length,
      seesPaths: isAllowed(membership.role, 'webhooks.manage'),
      mayManage: isChangeAllowed(membership, 'webhooks.manage'),
    });
  });

  const reading = { params: EndpointParams, querystring: DeliveriesQuery };
  app.get(
    `${PATH}/:endpointId`,
    withPermission('merchant', 'webhooks.read', reading),
    async request => pages.show(request, await pages.require(request), { wanted: request.query }),
  );

  registerNewEndpoint(app, deps);
  registerEndpointChanges(app, deps, pages);
  registerDeliveries(app, deps, pages);
  registerDeliveryFile(app, deps, pages, exports);
}
