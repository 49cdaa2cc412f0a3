import type { FastifyRequest } from 'fastify';
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
