import type { FastifyInstance } from 'fastify';
import { ApiError } from '../errors/api-error.ts';
import type { RateLimits } from './rate-limit.ts';

/**
 * Refuses requests without a route by E3001. A hook does it, since Fastify would read and parse the
 * body before it calls a handler.
 */
export function refuseUnknownRoutes(app: FastifyInstance, limits: RateLimits): void {
  app.addHook('onRequest', async request => {
    if (!request.is404) return;
    await limits.countPage(request);
    throw new ApiError('E3001', `There is no ${request.method} on this path.`);
  });
}
