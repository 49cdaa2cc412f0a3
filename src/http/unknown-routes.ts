import type { FastifyInstance, FastifyRequest } from 'fastify';
import { ApiError } from '../errors/api-error.ts';
import type { RateLimits } from './rate-limit.ts';

/**
 * Refuses requests without a route by E3001. A hook does it, since Fastify would read and parse the
 * body before it calls a handler.
 * @param isLeft Whether a request is left to a hook of the scope that answers it.
 */
export function refuseUnknownRoutes(
  app: FastifyInstance,
  limits: RateLimits,
  isLeft: (request: FastifyRequest) => boolean,
): void {
  app.addHook('onRequest', (request, _reply, done) => {
    if (!request.is404 || isLeft(request)) return done();
    const refusal = new ApiError('E3001', `There is no ${request.method} on this path.`);
    limits.countPage(request).then(() => done(refusal), done);
  });
}

/**
 * Lets unknown paths below the scope's prefix fail through the scope's own error handler, in the form of
 * its contract, instead of that of the nearest enclosing one.
 */
export function failUnknownRoutesIn(scope: FastifyInstance): void {
  scope.setNotFoundHandler(() => {
    throw new ApiError('E3001');
  });
}
