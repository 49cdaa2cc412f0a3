import { randomUUID } from 'node:crypto';
import type { FastifyRequest } from 'fastify';
import { isAllowed, isChangeAllowed } from '#accounts/access/permissions.ts';
import { ApiError } from '#errors/api-error.ts';
import { givenUpAt } from '#payments/webhooks/retry-schedule.ts';
import type { EndpointTest } from '#payments/webhooks/test-endpoint.ts';
import type { WebhookEndpoint } from '#storage/database/webhook-tables.ts';
import { listAttempts } from '#storage/repositories/webhooks/attempts.ts';
import {
  findOwnEndpoint,
  listTroubledEndpoints,
  type TroubledEndpoint,
} from '#storage/repositories/webhooks/endpoints.ts';
import {
  findOldestPending,
  listOwnDeliveries,
  type OwnEndpoint,
} from '#storage/repositories/webhooks/own-deliveries.ts';
import { toDate, toInclusiveEnd } from '#time/date-bound.ts';
import { basePathOf } from '../../../pages/base-path.ts';
import { membershipOf } from '../../hooks/access.ts';
import type { PanelDependencies } from '../../hooks/dependencies.ts';
import type { PanelPage } from '../../kit/document.ts';
import { faultOfDays } from '../../kit/filters.ts';
import type { FormFault } from '../../kit/form.ts';
import { texts } from '../../texts/index.ts';
import type { DeliveryPage } from './delivery-list.ts';
import { endpointPage } from './endpoint-view.ts';
import type { WantedDeliveries } from './forms.ts';
import { webhooksPath } from './paths.ts';

const HOUR_MS = 60 * 60_000;
const PAGE_SIZE = 25;
/** Most attempts read for a page of deliveries; an attempt of a killed worker is repeated. */
const ATTEMPTS_READ = PAGE_SIZE * 20;
/** Endpoints of a merchant that are looked at for failures. */
const ENDPOINTS_LOOKED_AT = 100;

interface EndpointState {
  /** Which deliveries are listed; the newest unless given. */
  readonly wanted?: WantedDeliveries;
  readonly fault?: FormFault | null;
  /** Result of a test. */
  readonly test?: EndpointTest | null;
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
  async require(
    request: FastifyRequest & { readonly params: { readonly endpointId: string } },
  ): Promise<WebhookEndpoint> {
    const { accountId } = membershipOf(request);
    const endpoint = await findOwnEndpoint(this.#deps.db, accountId, request.params.endpointId);
    if (endpoint === undefined) throw new ApiError('E3001');
    return endpoint;
  }

  async show(
    request: FastifyRequest,
    endpoint: WebhookEndpoint,
    { wanted = {}, fault = faultOfDays(texts, wanted), test = null, since }: EndpointState,
  ): Promise<PanelPage> {
    const { clock, panelUrl, reports } = this.#deps;
    const membership = membershipOf(request);
    const { accountId: merchantId } = membership;
    const own = { merchantId, endpointId: endpoint.id };
    const [troubled, page, oldest] = await Promise.all([
      readTroubled(this.#deps, merchantId),
      this.#readDeliveries(own, faultOfDays(texts, wanted) === null ? wanted : {}),
      findOldestPending(reports, own),
    ]);
    const next = oldest?.next_attempt_at ?? null;
    return endpointPage(endpoint, {
      url: `${basePathOf(panelUrl)}${webhooksPath(request)}/${endpoint.id}`,
      now: new Date(clock()),
      intent: randomUUID(),
      wanted,
      page,
      fault,
      test,
      since,
      isFailing: troubled.some(({ id }) => id === endpoint.id),
      givenUpAt: next === null ? null : givenUpAt(oldest?.attempts ?? 0, next),
      seesPaths: isAllowed(membership.role, 'webhooks.manage'),
      mayManage: isChangeAllowed(membership, 'webhooks.manage'),
      mayRedeliver: isChangeAllowed(membership, 'webhooks.redeliver'),
    });
  }

  async #readDeliveries(own: OwnEndpoint, wanted: WantedDeliveries): Promise<DeliveryPage> {
    const { reports } = this.#deps;
    const { status, from, to, after, before } = wanted;
    const id = after ?? before;
    const isNewer = after === undefined && before !== undefined;
    const cursor = id && ({ direction: isNewer ? 'newer' : 'older', id } as const);
    const filters = { status, createdFrom: toDate(from), createdTo: toInclusiveEnd(to) };
    const found = await listOwnDeliveries(
      ...([reports, own, filters, cursor || undefined, PAGE_SIZE + 1] as const),
    );
    const rows = found.slice(0, PAGE_SIZE);
    const hasMore = found.length > PAGE_SIZE;
    const attempts = await listAttempts(reports, rows, ATTEMPTS_READ);
    const last = new Map(attempts.map(attempt => [attempt.delivery_id, attempt]));
    return isNewer
      ? { rows: rows.toReversed(), last, hasNewer: hasMore, hasOlder: true }
      : { rows, last, hasNewer: after !== undefined, hasOlder: hasMore };
  }
}
