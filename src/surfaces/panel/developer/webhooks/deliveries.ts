import { Readable } from 'node:stream';
import { ApiError } from '#errors/api-error.ts';
import type { TypedApp } from '#http/typed-app.ts';
import { redeliver } from '#payments/webhooks/redeliver.ts';
import { findOwnDelivery } from '#storage/repositories/webhooks/own-deliveries.ts';
import { withPermission } from '../../hooks/access.ts';
import type { PanelDependencies } from '../../hooks/dependencies.ts';
import { texts } from '../../hooks/language.ts';
import { requireOwnPage } from '../../hooks/same-origin.ts';
import { registerForm } from '../../kit/form-route.ts';
import { redirectTo } from '../../kit/pages.ts';
import { deliveryPage, type EndpointDelivery, payloadOf } from './delivery-view.ts';
import { type EndpointRequest, endpointPath, requireEndpoint, WEBHOOKS_PATH } from './endpoint.ts';
import { DeliveryParams } from './forms.ts';

const PATH = `${WEBHOOKS_PATH}/:endpointId/deliveries/:deliveryId`;

type DeliveryRequest = EndpointRequest & { readonly params: { readonly deliveryId: string } };

/** One delivery: its page, its payload, and its redelivery. */
export function registerDeliveries(app: TypedApp, deps: PanelDependencies): void {
  const { db, limits } = deps;
  const params = DeliveryParams;
  const reading = withPermission('merchant', 'webhooks.read', { params });

  app.get(PATH, reading, async request =>
    deliveryPage(request, deps, await requireDelivery(request), null),
  );

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
    again: async (request, fault) =>
      deliveryPage(request, deps, await requireDelivery(request), fault),
    done: (request, { id }) =>
      redirectTo(
        `${endpointPath(request)}/deliveries/${id}`,
        texts(request).webhooks.redelivery.sentAgain,
      ),
  });

  /** @throws ApiError E3001 for a missing delivery or endpoint, and for one of another merchant. */
  async function requireDelivery(request: DeliveryRequest): Promise<EndpointDelivery> {
    const endpoint = await requireEndpoint(request, deps);
    const own = { merchantId: endpoint.merchant_id, endpointId: endpoint.id };
    const delivery = await findOwnDelivery(db, own, request.params.deliveryId);
    if (delivery === undefined) throw new ApiError('E3001');
    return { endpoint, delivery };
  }
}
