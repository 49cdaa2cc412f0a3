import { randomUUID } from 'node:crypto';
import type { FastifyRequest } from 'fastify';
import { isAllowed, isChangeAllowed } from '#accounts/access/permissions.ts';
import { ApiError } from '#errors/api-error.ts';
import { givenUpAt } from '#payments/webhooks/retry-schedule.ts';
import type { EndpointTest } from '#payments/webhooks/test-endpoint.ts';
import type { WebhookEndpoint } from '#storage/database/webhook-tables.ts';
import {
  findOwnEndpoint,
  listTroubledEndpoints,
  type TroubledEndpoint,
} from '#storage/repositories/webhooks/endpoints.ts';
import { findOldestPending } from '#storage/repositories/webhooks/own-deliveries.ts';
import { toDate, toInclusiveEnd } from '#time/date-bound.ts';
import { basePathOf } from '../../../pages/base-path.ts';
import { membershipOf } from '../../hooks/access.ts';
import type { PanelDependencies } from '../../hooks/dependencies.ts';
import { texts } from '../../hooks/language.ts';
import type { PanelPage } from '../../kit/document.ts';
import { faultOfDays } from '../../kit/filters.ts';
import type { FormFault } from '../../kit/form.ts';
import { readPage } from '../../kit/list.ts';
import { deliveriesOf } from './delivery-list.ts';
import { endpointPage } from './endpoint-view.ts';
import type { WantedDeliveries } from './forms.ts';
import { type EndpointRequest, webhooksPath } from './paths.ts';

const HOUR_MS = 60 * 60_000;
const PAGE_SIZE = 25;
/** Endpoints of a merchant that are looked at for failures. */
const ENDPOINTS_LOOKED_AT = 100;

interface EndpointState {
  /** Which deliveries are listed; the newest unless given. */
  readonly wanted?: WantedDeliveries;
  readonly fault?: FormFault;
  /** Result of a test. */
  readonly test?: EndpointTest;
  /** The time that was sent in the form to redeliver. */
  readonly since?: string;
}

/** A merchant's endpoints that are disabled, or to which nothing could be delivered for an hour. */
export function readTroubled(
  { clock, reports }: Pick<PanelDependencies, 'clock' | 'reports'>,
  merchantId: string,
): Promise<TroubledEndpoint[]> {
  const since = new Date(clock() - HOUR_MS);
  return listTroubledEndpoints(reports, merchantId, { since, limit: ENDPOINTS_LOOKED_AT });
}

/** The page of an endpoint, which all its forms return to. */
export class EndpointPages {
  readonly #deps: PanelDependencies;

  constructor(deps: PanelDependencies) {
    this.#deps = deps;
  }

  /** @throws ApiError E3001 for a missing endpoint, and for one of another merchant. */
  async require(request: EndpointRequest): Promise<WebhookEndpoint> {
    const { accountId } = membershipOf(request);
    const endpoint = await findOwnEndpoint(this.#deps.db, accountId, request.params.endpointId);
    if (endpoint === undefined) throw new ApiError('E3001');
    return endpoint;
  }

  async show(
    request: FastifyRequest,
    endpoint: WebhookEndpoint,
    { wanted = {}, fault, test, since }: EndpointState,
  ): Promise<PanelPage> {
    const { clock, panelUrl, reports } = this.#deps;
    const words = texts(request);
    const membership = membershipOf(request);
    const { accountId: merchantId } = membership;
    const own = { merchantId, endpointId: endpoint.id };
    const wrongDays = faultOfDays(words, wanted);
    const { status, from, to, ...place } = wrongDays === null ? wanted : {};
    const filters = { status, createdFrom: toDate(from), createdTo: toInclusiveEnd(to) };
    const [troubled, page, oldest] = await Promise.all([
      readTroubled(this.#deps, merchantId),
      readPage(place, PAGE_SIZE, deliveriesOf(reports, own, filters)),
      findOldestPending(reports, own),
    ]);
    const next = oldest?.next_attempt_at ?? null;
    return endpointPage(words, endpoint, {
      url: `${basePathOf(panelUrl)}${webhooksPath(request)}/${endpoint.id}`,
      now: new Date(clock()),
      intent: randomUUID(),
      wanted,
      page,
      fault: fault ?? wrongDays,
      test,
      since,
      isFailing: troubled.some(({ id }) => id === endpoint.id),
      givenUpAt: next === null ? null : givenUpAt(oldest?.attempts ?? 0, next),
      seesPaths: isAllowed(membership.role, 'webhooks.manage'),
      mayManage: isChangeAllowed(membership, 'webhooks.manage'),
      mayRedeliver: isChangeAllowed(membership, 'webhooks.redeliver'),
    });
  }
}
