import type { FastifyRequest } from 'fastify';
import { membershipOf } from '../../hooks/access.ts';
import { accountPath } from '../../kit/navigation.ts';
import { PLACES } from '../../kit/places.ts';

const OWN_PATH = `${PLACES.merchant.developer}/webhooks`;

/** Path of the routes. */
export const WEBHOOKS_PATH = `/merchants/:accountId${OWN_PATH}`;

/** Path of a merchant's webhooks, without the base path. */
export function webhooksPath(request: FastifyRequest): string {
  return accountPath(membershipOf(request)) + OWN_PATH;
}

/** A request for an endpoint's pages. */
export type EndpointRequest = FastifyRequest & {
  readonly params: { readonly endpointId: string };
};

/** Path of an endpoint, without the base path. */
export function endpointPath(request: EndpointRequest): string {
  return `${webhooksPath(request)}/${request.params.endpointId}`;
}
