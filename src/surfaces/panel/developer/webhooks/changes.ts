import { audited } from '#accounts/audit/audited-change.ts';
import type { TypedApp } from '#http/typed-app.ts';
import { guardedConnector } from '#outbound/guarded-connector.ts';
import { problemOf } from '#payments/webhooks/attempt-problem.ts';
import { disableEndpoint, enableEndpoint } from '#payments/webhooks/change-endpoint.ts';
import {
  originOf,
  rotateEndpointSecret,
  SECRET_GRACE_MS,
} from '#payments/webhooks/manage-endpoints.ts';
import { redeliverFailed } from '#payments/webhooks/redeliver.ts';
import { ATTEMPT_TIMEOUT_MS } from '#payments/webhooks/send.ts';
import { testEndpoint } from '#payments/webhooks/test-endpoint.ts';
import { countPending } from '#storage/repositories/webhooks/own-deliveries.ts';
import { parseDateBound } from '#time/date-bound.ts';
import { html } from '../../../pages/html.ts';
import { sessionOf } from '../../hooks/access.ts';
import type { PanelDependencies } from '../../hooks/dependencies.ts';
import { texts } from '../../hooks/language.ts';
import { type FormFault, FormRefused } from '../../kit/form.ts';
import { registerForm } from '../../kit/form-route.ts';
import { dateTime } from '../../kit/format.ts';
import { redirectTo } from '../../kit/pages.ts';
import { issueOnce } from '../../kit/secrets.ts';
import {
  type EndpointRequest,
  endpointPath,
  GRACE_HOURS,
  requireEndpoint,
  WEBHOOKS_PATH,
} from './endpoint.ts';
import { endpointPage } from './endpoint-view.ts';
import { EndpointParams, RedeliverFailedForm, RotateForm } from './forms.ts';
import { issuedPage, renderTypes } from './list.ts';

const PATH = `${WEBHOOKS_PATH}/:endpointId`;
/** Most waiting deliveries that are counted before an endpoint is disabled. */
const WAITING_COUNTED = 1_000;

/** Tests an endpoint, rotates its secret, disables and enables it, and redelivers what failed. */
export function registerEndpointChanges(app: TypedApp, deps: PanelDependencies): void {
  const { allowsLoopback: allowPrivateAddresses, clock, db, keyring, limits } = deps;
  const connect = guardedConnector({ allowPrivateAddresses, timeoutMs: ATTEMPT_TIMEOUT_MS });
  const again = async (request: EndpointRequest, fault: FormFault) =>
    endpointPage(request, deps, await requireEndpoint(request, deps), { fault });
  const managing = {
    rule: { for: 'merchant', permission: 'webhooks.manage' },
    params: EndpointParams,
    again,
  } as const;

  registerForm(app, deps, `${PATH}/test`, {
    ...managing,
    change: async (request, operator) => {
      const endpoint = await requireEndpoint(request, deps);
      await limits.countWebhookTest(request);
      const sending = { db, keyring, connect, allowPrivateAddresses, logger: request.log };
      const test = await testEndpoint(sending, endpoint.id, new Date(clock()));
      const { statusCode, error } = test;
      const problem = problemOf({ status_code: statusCode, error });
      const detail = { statusCode, problem };
      await audited(operator, 'webhook.test', async () => ({
        result: undefined,
        objectId: endpoint.id,
        detail,
      }));
      return { endpoint, test };
    },
    done: (request, { endpoint, test }) => endpointPage(request, deps, endpoint, { test }),
  });

  registerForm(app, deps, `${PATH}/rotate`, {
    ...managing,
    body: RotateForm,
    ask: async request => {
      const words = texts(request);
      const { rotation } = words.webhooks;
      const { url, disabled_at: disabled } = await requireEndpoint(request, deps);
      // The change is refused.
      if (disabled !== null) return null;
      const until = dateTime(words, new Date(clock() + SECRET_GRACE_MS));
      return {
        title: rotation.question(originOf(url)),
        content: html`<p>${rotation.signsUntil(until)}</p>`,
        submit: rotation.submit,
        back: endpointPath(request),
      };
    },
    change: async request => {
      const { id, url } = await requireEndpoint(request, deps);
      const issued = await issueOnce(request, deps, request.body.intent, operator =>
        rotateEndpointSecret(operator, keyring, id),
      );
      return { url, issued };
    },
    done: (request, { url, issued }) => {
      const { rotated, rotatedLead } = texts(request).webhooks.issued;
      return issuedPage(request, issued, rotated(originOf(url)), rotatedLead(GRACE_HOURS));
    },
  });

  registerForm(app, deps, `${PATH}/disable`, {
    ...managing,
    ask: async request => {
      const words = texts(request);
      const { disabling } = words.webhooks;
      const endpoint = await requireEndpoint(request, deps);
      if (endpoint.disabled_at !== null) return null;
      const own = { merchantId: endpoint.merchant_id, endpointId: endpoint.id };
      const waiting = await countPending(db, own, WAITING_COUNTED + 1);
      return {
        title: disabling.question(originOf(endpoint.url)),
        content: html`<p>${disabling.waiting(waiting, WAITING_COUNTED)}</p>
<p>${disabling.stops(renderTypes(words, endpoint))} ${disabling.undone}</p>`,
        submit: disabling.submit,
        back: endpointPath(request),
      };
    },
    change: async (request, operator) => {
      const { id } = await requireEndpoint(request, deps);
      return disableEndpoint(operator, id, `disabled-by ${sessionOf(request).person.name}`);
    },
    done: (request, { url }) => {
      const { disabled, undo } = texts(request).webhooks.disabling;
      const path = endpointPath(request);
      return redirectTo(path, {
        text: disabled(originOf(url)),
        undo: { path: `${path}/enable`, text: undo, fields: {} },
      });
    },
  });

  registerForm(app, deps, `${PATH}/enable`, {
    ...managing,
    change: async (request, operator) =>
      enableEndpoint(operator, (await requireEndpoint(request, deps)).id),
    done: (request, { endpoint, deliveries, hasMore }) =>
      redirectTo(
        endpointPath(request),
        texts(request).webhooks.enabling.enabled(originOf(endpoint.url), deliveries, hasMore),
      ),
  });

  registerForm(app, deps, `${PATH}/redeliver-failed`, {
    rule: { for: 'merchant', permission: 'webhooks.redeliver' },
    params: EndpointParams,
    body: RedeliverFailedForm,
    change: async (request, operator) => {
      const { redelivery } = texts(request).webhooks;
      const { id } = await requireEndpoint(request, deps);
      const since = parseDateBound(request.body.since.trim());
      if (since === undefined) throw new FormRefused('since', redelivery.noTime);
      if (since.getTime() > clock()) throw new FormRefused('since', redelivery.future);
      return limits.countBulkRedelivery(id, () => redeliverFailed(operator, id, since));
    },
    again: async (request, fault) => {
      const endpoint = await requireEndpoint(request, deps);
      return endpointPage(request, deps, endpoint, { fault, since: request.body.since.trim() });
    },
    done: (request, { deliveries, hasMore }) =>
      redirectTo(
        endpointPath(request),
        texts(request).webhooks.redelivery.redelivered(deliveries, hasMore),
      ),
  });
}
