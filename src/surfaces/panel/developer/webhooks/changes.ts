import type { FastifyRequest } from 'fastify';
import { audited, type Operator } from '#accounts/audit/audited-change.ts';
import { EmptyForm } from '#http/page-validation.ts';
import type { TypedApp } from '#http/typed-app.ts';
import { guardedConnector } from '#outbound/guarded-connector.ts';
import { problemOf } from '#payments/webhooks/attempt-problem.ts';
import { disableEndpoint, enableEndpoint } from '#payments/webhooks/change-endpoint.ts';
import { redeliverFailed } from '#payments/webhooks/redeliver.ts';
import { ATTEMPT_TIMEOUT_MS } from '#payments/webhooks/send.ts';
import { testEndpoint } from '#payments/webhooks/test-endpoint.ts';
import { parseDateBound } from '#time/date-bound.ts';
import { operatorOf, sessionOf, withPermission } from '../../hooks/access.ts';
import type { PanelDependencies } from '../../hooks/dependencies.ts';
import { faultOf } from '../../kit/failures.ts';
import { type PageOrRedirect, redirectTo } from '../../kit/pages.ts';
import { texts } from '../../texts/index.ts';
import type { EndpointPages } from './endpoint.ts';
import { EndpointParams, RedeliverFailedForm } from './forms.ts';
import { WEBHOOKS_PATH, webhooksPath } from './paths.ts';

const PATH = `${WEBHOOKS_PATH}/:endpointId`;
const { disabling, redelivery } = texts.webhooks;

type EndpointRequest = FastifyRequest & { readonly params: { readonly endpointId: string } };

/** Tests an endpoint, disables and enables it, and redelivers what failed. */
export function registerEndpointChanges(
  app: TypedApp,
  deps: PanelDependencies,
  pages: EndpointPages,
): void {
  const { allowsLoopback: allowPrivateAddresses, clock, db, keyring, limits } = deps;
  const params = EndpointParams;
  const managing = withPermission('merchant', 'webhooks.manage', { params, body: EmptyForm });
  const connect = guardedConnector({ allowPrivateAddresses, timeoutMs: ATTEMPT_TIMEOUT_MS });

  app.post(`${PATH}/test`, managing, async request => {
    const endpoint = await pages.require(request);
    await limits.countWebhookTest(request);
    const sending = { db, keyring, connect, allowPrivateAddresses, logger: request.log };
    const test = await testEndpoint(sending, endpoint.id, new Date(clock()));
    const { statusCode, error } = test;
    const problem = problemOf({ status_code: statusCode, error });
    await audited(operatorOf(request, deps), 'webhook.test', async () => ({
      result: undefined,
      objectId: endpoint.id,
      detail: { statusCode, problem },
    }));
    return pages.show(request, endpoint, { test });
  });

  app.post(`${PATH}/disable`, managing, request =>
    change(request, (operator, id) =>
      disableEndpoint(operator, id, disabling.by(sessionOf(request).person.name)),
    ),
  );

  app.post(`${PATH}/enable`, managing, request => change(request, enableEndpoint));

  const schema = { params, body: RedeliverFailedForm };
  const redelivering = withPermission('merchant', 'webhooks.redeliver', schema);
  app.post(`${PATH}/redeliver-failed`, redelivering, async request => {
    const endpoint = await pages.require(request);
    const text = request.body.since.trim();
    const since = parseDateBound(text);
    const refuse = (message: string) =>
      pages.show(request, endpoint, { fault: { field: 'since', message }, since: text });
    if (since === undefined) return refuse(redelivery.noTime);
    if (since.getTime() > clock()) return refuse(redelivery.future);
    try {
      const { deliveries } = await limits.countBulkRedelivery(endpoint.id, () =>
        redeliverFailed(operatorOf(request, deps), endpoint.id, since),
      );
      return redirectTo(`${webhooksPath(request)}/${endpoint.id}?redelivered=${deliveries}`);
    } catch (error) {
      return pages.show(request, endpoint, { fault: faultOf(error, request), since: text });
    }
  });

  async function change(
    request: EndpointRequest,
    perform: (operator: Operator, id: string) => Promise<unknown>,
  ): Promise<PageOrRedirect> {
    const endpoint = await pages.require(request);
    try {
      await perform(operatorOf(request, deps), endpoint.id);
    } catch (error) {
      return pages.show(request, endpoint, { fault: faultOf(error, request) });
    }
    return redirectTo(`${webhooksPath(request)}/${endpoint.id}`);
  }
}
