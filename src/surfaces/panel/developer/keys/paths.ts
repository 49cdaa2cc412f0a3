import type { FastifyRequest } from 'fastify';
import type { Membership } from '#storage/repositories/people/memberships.ts';
import { membershipOf } from '../../hooks/access.ts';
import { accountPath } from '../../kit/navigation.ts';
import { PLACES } from '../../kit/places.ts';

/** Path of the routes. */
export function keysRoute(kind: Membership['kind']): string {
  return `/${kind}s/:accountId${PLACES[kind].developer}/keys`;
}

/** Path of an account's keys, without the base path. */
export function keysPath(request: FastifyRequest): string {
  const membership = membershipOf(request);
  return `${accountPath(membership)}${PLACES[membership.kind].developer}/keys`;
}
