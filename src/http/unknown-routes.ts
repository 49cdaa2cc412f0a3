import type { FastifyInstance, FastifyRequest } from 'fastify';
import { ApiError } from '../errors/api-error.ts';
import type { RateLimits } from './rate-limit.ts';
import { pathOf } from './request-target.ts';
import { collectRoutes } from './route-table.ts';

/** Longest path that a message repeats, in characters. */
const PATH_MAXIMUM = 200;

/**
 * Explains why requests have no route, once the routes that follow are registered. Of a path of the API it
 * tells the methods, or which path was meant: both stand in the published reference. Any other path with
 * another method is refused with 405 and Allow.
 */
export function explainUnknownRoutes(app: FastifyInstance): (request: FastifyRequest) => ApiError {
  const know = collectRoutes(app);
  return ({ method, url }) => {
    const { methods, isApi, meant } = know(pathOf(url));
    const missing = `There is no ${method} on this path`;
    if (methods.length > 0 && !methods.includes(method)) {
      const message = `${missing}, only ${inWords(methods)}.`;
      return new ApiError('E3001', message, isApi ? {} : { allow: methods });
    }
    if (meant === undefined || meant.length > PATH_MAXIMUM) {
      return new ApiError('E3001', `${missing}.`);
    }
    return new ApiError('E3001', `${missing}. Did you mean ${meant}?`);
  };
}

/**
 * Refuses requests without a route. A hook does it, since Fastify would read and parse the body before it
 * calls a handler.
 * @param isLeft Whether a request is left to a hook of the scope that answers it.
 */
export function refuseUnknownRoutes(
  app: FastifyInstance,
  limits: RateLimits,
  explain: (request: FastifyRequest) => ApiError,
  isLeft: (request: FastifyRequest) => boolean,
): void {
  app.addHook('onRequest', (request, _reply, done) => {
    if (!request.is404 || isLeft(request)) return done();
    limits.countPage(request).then(() => done(explain(request)), done);
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

/** `GET and HEAD`, `GET, HEAD and POST`. */
function inWords(methods: readonly string[]): string {
  const last = methods.at(-1) ?? '';
  return methods.length < 2 ? last : `${methods.slice(0, -1).join(', ')} and ${last}`;
}
