import { Readable } from 'node:stream';
import type { FastifyRequest } from 'fastify';
import { isAllowed, isChangeAllowed } from '#accounts/access/permissions.ts';
import { ApiError } from '#errors/api-error.ts';
import type { TypedApp } from '#http/typed-app.ts';
import { redeliver } from '#payments/webhooks/redeliver.ts';
import { eventEnvelope } from '#payments/webhooks/send-event.ts';
import type { WebhookEndpoint } from '#storage/database/webhook-tables.ts';
import { listAttempts } from '#storage/repositories/webhooks/attempts.ts';
import {
  type DeliveredEvent,
  findOwnDelivery,
} from '#storage/repositories/webhooks/own-deliveries.ts';
import { basePathOf } from '../../../pages/base-path.ts';
import { membershipOf, withPermission } from '../../hooks/access.ts';
import type { PanelDependencies } from '../../hooks/dependencies.ts';
import { texts } from '../../hooks/language.ts';
import { requireOwnPage } from '../../hooks/same-origin.ts';
import type { PanelPage } from '../../kit/document.ts';
import type { FormFault } from '../../kit/form.ts';
import { registerForm } from '../../kit/form-route.ts';
import { accountPath } from '../../kit/navigation.ts';
import { redirectTo } from '../../kit/pages.ts';
import { deliveryPage } from './delivery-view.ts';
import type { EndpointPages } from './endpoint.ts';
import { DeliveryParams } from './forms.ts';
import { type EndpointRequest, endpointPath, WEBHOOKS_PATH, webhooksPath } from './paths.ts';

const PATH = `${WEBHOOKS_PATH}/:endpointId/deliveries/:deliveryId`;
/** Most attempts on a page: ten are made, plus repeats of those that a killed worker left. */
const ATTEMPTS_SHOWN = 100;

type DeliveryRequest = EndpointRequest & { readonly params: { readonly deliveryId: string } };

/** One delivery: its page, its payload, and its redelivery. */
export function registerDeliveries(
  app: TypedApp,
  deps: PanelDependencies,
  pages: EndpointPages,
): void {
  const { db, limits, panelUrl, reports } = deps;
  const params = DeliveryParams;
  const reading = withPermission('merchant', 'webhooks.read', { params });

  app.get(PATH, reading, async request => show(request, await requireDelivery(request), null));

  app.get(`${PATH}/payload.json`, reading, async (request, reply) => {
    requireOwnPage(request);
    const { delivery } = await requireDelivery(request);
    reply
      .header('content-disposition', `attachment; filename="event-${delivery.event_id}.json"`)
      .type('application/json; charset=utf-8')
      .serializer(String);
    if (request.method === 'HEAD') return reply.send(Readable.from([]));
    return reply.send(payloadOf(delivery));
  });

  registerForm(app, deps, `${PATH}/redeliver`, {
    rule: { for: 'merchant', permission: 'webhooks.redeliver' },
    params,
    change: async (request, operator) => {
      const { endpoint, delivery } = await requireDelivery(request);
      return limits.countRedelivery(endpoint.id, () => redeliver(operator, delivery.id));
    },
    again: async (request, fault) => show(request, await requireDelivery(request), fault),
    done: (request, { id }) =>
      redirectTo(
        `${endpointPath(request)}/deliveries/${id}`,
        texts(request).webhooks.redelivery.sentAgain,
      ),
  });

  /** @throws ApiError E3001 for a missing delivery or endpoint, and for one of another merchant. */
  async function requireDelivery(request: DeliveryRequest) {
    const endpoint = await pages.require(request);
    const own = { merchantId: membershipOf(request).accountId, endpointId: endpoint.id };
    const delivery = await findOwnDelivery(db, own, request.params.deliveryId);
    if (delivery === undefined) throw new ApiError('E3001');
    return { endpoint, delivery };
  }

  async function show(
    request: FastifyRequest,
    { endpoint, delivery }: { endpoint: WebhookEndpoint; delivery: DeliveredEvent },
    fault: FormFault | null,
  ): Promise<PanelPage> {
    const membership = membershipOf(request);
    const basePath = basePathOf(panelUrl);
    return deliveryPage(texts(request), delivery, {
      endpoint,
      endpointUrl: `${basePath}${webhooksPath(request)}/${endpoint.id}`,
      paymentsUrl: `${basePath}${accountPath(membership)}/payments`,
      attempts: await listAttempts(reports, [delivery], ATTEMPTS_SHOWN),
      payload: payloadOf(delivery),
      fault,
      seesPaths: isAllowed(membership.role, 'webhooks.manage'),
      mayRedeliver: isChangeAllowed(membership, 'webhooks.redeliver'),
    });
  }
}

function payloadOf(delivery: DeliveredEvent): string {
  const {
    event_id: id,
    event_type: type,
    event_created_at: createdAt,
    event_data: data,
  } = delivery;
  return eventEnvelope({ id, type, createdAt, data });
}
