import type { FastifyRequest } from 'fastify';
import { ApiError } from '#errors/api-error.ts';
import { SECRET_GRACE_MS } from '#payments/webhooks/manage-endpoints.ts';
import type { WebhookEndpoint } from '#storage/database/webhook-tables.ts';
import {
  findOwnEndpoint,
  listTroubledEndpoints,
  type TroubledEndpoint,
} from '#storage/repositories/webhooks/endpoints.ts';
import { membershipOf } from '../../hooks/access.ts';
import type { PanelDependencies } from '../../hooks/dependencies.ts';
import { ownPath } from '../../kit/navigation.ts';
import { PLACES } from '../../kit/places.ts';

/** The webhooks of a merchant, below its own path. */
export const WEBHOOKS = `${PLACES.merchant.developer}/webhooks`;

/** Path of the routes. */
export const WEBHOOKS_PATH = `/merchants/:accountId${WEBHOOKS}`;

/** A request for an endpoint's pages. */
export type EndpointRequest = FastifyRequest & {
  readonly params: { readonly endpointId: string };
};

/** Path of an endpoint, without the base path. */
export function endpointPath(request: EndpointRequest): string {
  return ownPath(request, `${WEBHOOKS}/${request.params.endpointId}`);
}

const HOUR_MS = 60 * 60_000;
/** How long the former secret signs after a rotation. */
export const GRACE_HOURS = SECRET_GRACE_MS / HOUR_MS;
/** Endpoints of a merchant that are looked at for failures. */
const ENDPOINTS_LOOKED_AT = 100;

/** @throws ApiError E3001 for a missing endpoint, and for one of another merchant. */
export async function requireEndpoint(
  request: EndpointRequest,
  { db }: Pick<PanelDependencies, 'db'>,
): Promise<WebhookEndpoint> {
  const { accountId } = membershipOf(request);
  const endpoint = await findOwnEndpoint(db, {
    merchant_id: accountId,
    id: request.params.endpointId,
  });
  if (endpoint === undefined) throw new ApiError('E3001');
  return endpoint;
}

/** A merchant's endpoints that are disabled, or to which nothing could be delivered for an hour. */
export function readTroubled(
  { clock, reports }: Pick<PanelDependencies, 'clock' | 'reports'>,
  merchantId: string,
): Promise<TroubledEndpoint[]> {
  const since = new Date(clock() - HOUR_MS);
  return listTroubledEndpoints(reports, merchantId, { since, limit: ENDPOINTS_LOOKED_AT });
}
