import type { FastifyRequest } from 'fastify';
import { membershipOf } from '../../hooks/access.ts';
import { PLACES } from '../../kit/places.ts';

/** Place of an account's keys, below its own path. */
export function keysOf(request: FastifyRequest): string {
  return `${PLACES[membershipOf(request).kind].developer}/keys`;
}
