import { randomUUID } from 'node:crypto';
import type { FastifyRequest } from 'fastify';
import { isAllowed, isChangeAllowed } from '#accounts/access/permissions.ts';
import type { TypedApp } from '#http/typed-app.ts';
import {
  ALL_TYPES,
  createEndpoint,
  ENDPOINTS_MAXIMUM,
  type IssuedEndpoint,
  originOf,
  rotateEndpointSecret,
  SECRET_GRACE_MS,
} from '#payments/webhooks/manage-endpoints.ts';
import { listOwnEndpoints } from '#storage/repositories/webhooks/endpoints.ts';
import { basePathOf } from '../../../pages/base-path.ts';
import { membershipOf, withPermission } from '../../hooks/access.ts';
import type { PanelDependencies } from '../../hooks/dependencies.ts';
import type { PanelPage } from '../../kit/document.ts';
import { faultOf } from '../../kit/failures.ts';
import type { FormFault } from '../../kit/form.ts';
import { alreadyDonePage, issueOnce } from '../../kit/secrets.ts';
import { texts } from '../../texts/index.ts';
import { registerEndpointChanges } from './changes.ts';
import { registerDeliveries } from './deliveries.ts';
import { EndpointPages, readTroubled } from './endpoint.ts';
import {
  DeliveriesQuery,
  type EndpointFields,
  EndpointParams,
  NewEndpointForm,
  RotateForm,
} from './forms.ts';
import { endpointsPage, issuedPage, newEndpointPage } from './list.ts';
import { WEBHOOKS_PATH as PATH, webhooksPath } from './paths.ts';

const text = texts.webhooks;

/** How long the former secret signs after a rotation. */
const GRACE_HOURS = SECRET_GRACE_MS / 3_600_000;
/** Most endpoints in the list, including disabled ones. */
const ENDPOINTS_SHOWN = 100;

/** The webhook endpoints of a merchant, and what was delivered to them. */
export function registerWebhooks(app: TypedApp, deps: PanelDependencies): void {
  const { allowsLoopback, clock, db, keyring, panelUrl, publicUrl } = deps;
  const urlOf = (request: FastifyRequest) => basePathOf(panelUrl) + webhooksPath(request);
  const pages = new EndpointPages(deps);

  app.get(PATH, withPermission('merchant', 'webhooks.read'), async request => {
    const membership = membershipOf(request);
    const { accountId } = membership;
    const [endpoints, troubled] = await Promise.all([
      listOwnEndpoints(db, accountId, ENDPOINTS_SHOWN),
      readTroubled(deps, accountId),
    ]);
    return endpointsPage(endpoints, {
      url: urlOf(request),
      publicUrl,
      now: new Date(clock()),
      failing: new Set(troubled.map(({ id }) => id)),
      left: ENDPOINTS_MAXIMUM - endpoints.filter(each => each.disabled_at === null).length,
      seesPaths: isAllowed(membership.role, 'webhooks.manage'),
      mayManage: isChangeAllowed(membership, 'webhooks.manage'),
    });
  });

  app.get(`${PATH}/new`, withPermission('merchant', 'webhooks.manage'), request =>
    showForm(request, { url: '', type: [ALL_TYPES] }, null),
  );

  const creating = withPermission('merchant', 'webhooks.manage', { body: NewEndpointForm });
  app.post(`${PATH}/new`, creating, async request => {
    const { intent, url, type: types } = request.body;
    const form = { url: url.trim(), type: types };
    if (types.length === 0) {
      return showForm(request, form, { field: 'types', message: text.form.noType });
    }
    const { accountId: merchantId } = membershipOf(request);
    const endpoint = { merchantId, url: form.url, types, allowPrivateAddresses: allowsLoopback };
    try {
      const issued = await issueOnce(request, deps, intent, operator =>
        createEndpoint(operator, keyring, endpoint),
      );
      return showIssued(request, issued, text.issued.created, text.issued.lead);
    } catch (error) {
      return showForm(request, form, { ...faultOf(error, request), field: 'url' });
    }
  });

  const reading = { params: EndpointParams, querystring: DeliveriesQuery };
  app.get(
    `${PATH}/:endpointId`,
    withPermission('merchant', 'webhooks.read', reading),
    async request => pages.show(request, await pages.require(request), { wanted: request.query }),
  );

  const rotating = { params: EndpointParams, body: RotateForm };
  app.post(
    `${PATH}/:endpointId/rotate`,
    withPermission('merchant', 'webhooks.manage', rotating),
    async request => {
      const endpoint = await pages.require(request);
      const title = text.issued.rotated(originOf(endpoint.url));
      try {
        const issued = await issueOnce(request, deps, request.body.intent, operator =>
          rotateEndpointSecret(operator, keyring, endpoint.id),
        );
        return showIssued(request, issued, title, text.issued.rotatedLead(GRACE_HOURS));
      } catch (error) {
        return pages.show(request, endpoint, { fault: faultOf(error, request) });
      }
    },
  );

  registerEndpointChanges(app, deps, pages);
  registerDeliveries(app, deps, pages);

  function showForm(
    request: FastifyRequest,
    form: EndpointFields,
    fault: FormFault | null,
  ): PanelPage {
    const frame = { url: urlOf(request), intent: randomUUID(), isHttpAllowed: allowsLoopback };
    return newEndpointPage(form, fault, frame);
  }

  function showIssued(
    request: FastifyRequest,
    issued: IssuedEndpoint | undefined,
    title: string,
    lead: string,
  ): PanelPage {
    const url = urlOf(request);
    if (issued === undefined) return alreadyDonePage(text.done, { url, text: text.title });
    return issuedPage(issued, { title, lead, url: `${url}/${issued.endpoint.id}` });
  }
}
