import type { FastifyInstance, FastifyRequest } from 'fastify';
import { ApiError } from '#errors/api-error.ts';
import type { RateLimits } from './rate-limit.ts';
import { pathOf } from './request-target.ts';
import { collectRoutes } from './route-table.ts';

/** Longest path that a message repeats, in characters. */
const PATH_MAXIMUM = 200;

/**
 * Explains why a request matched no route, from the routes registered from now on. For the API, whose paths the
 * reference publishes anyway, the error names the allowed methods or the most similar path. Any other path that
 * exists with another method is refused with 405 and Allow.
 */
export function explainUnknownRoutes(app: FastifyInstance): (request: FastifyRequest) => ApiError {
  const findNear = collectRoutes(app);
  return ({ method, url }) => {
    const { methods, isApi, meant } = findNear(pathOf(url));
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
 * Refuses requests without a route, in a hook: Fastify would read and parse the body before it calls a handler.
 * @param isLeft Whether a hook of the request's scope refuses it instead.
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
 * Sends unknown paths below the scope's prefix to the scope's own error handler, so that the error has the
 * form of its contract. Without it, the enclosing scope's handler would get them.
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
