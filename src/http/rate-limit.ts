import rateLimit from '@fastify/rate-limit';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { Counter } from 'prom-client';
import { ApiError } from '../errors/api-error.ts';
import type { Clock } from '../time/clock.ts';
import { clientNetwork } from './client-address.ts';
import { rateLimitStore } from './rate-limit-store.ts';

declare module 'fastify' {
  interface FastifyRequest {
    /** ID of the credentials that signed the request; null until they are verified. */
    keyId: string | null;
  }
}

/**
 * What this replica counts, each with an allowance of its own: a browser behind a merchant's address
 * cannot use up what the merchant's server has, and neither can anybody who only knows a key ID.
 * @throws ApiError E9001 above the limit, from every function.
 */
export interface RateLimits {
  /** Refuses an address whose failures have used up its allowance; counts nothing. */
  refuseExhaustedAddress(request: FastifyRequest): Promise<void>;
  /** Counts a failed authentication, or an unauthenticated request that is refused, by address. */
  countFailure(request: FastifyRequest): Promise<void>;
  /** Counts documentation, processor pages and unknown paths by address. */
  countPage(request: FastifyRequest): Promise<void>;
  /** Counts checkout pages, which poll every two seconds, by address. */
  countCheckout(request: FastifyRequest): Promise<void>;
  /** Counts an authenticated request by `request.keyId`. */
  countKey(request: FastifyRequest): Promise<void>;
}

interface RateLimitOptions {
  /** Requests in each window. */
  readonly max: number;
  readonly windowSeconds: number;
  readonly clock: Clock;
}

/**
 * Checkout requests in a window, as a multiple of the limit: with 60 a minute, 600 from one address,
 * enough for twenty customers who poll from behind it.
 */
const CHECKOUT_FACTOR = 10;

const rateLimited = new Counter({
  name: 'eps_rate_limited_total',
  help: 'Requests refused with E9001, by what was counted: a key, failures, pages or checkout pages of an address',
  labelNames: ['client'],
});

/** Counts a client's requests in windows of a fixed length, in this replica's memory. */
export async function createRateLimits(
  app: FastifyInstance,
  { max, windowSeconds, clock }: RateLimitOptions,
): Promise<RateLimits> {
  app.decorateRequest('keyId', null);
  await app.register(rateLimit, {
    global: false,
    timeWindow: windowSeconds * 1000,
    store: rateLimitStore(clock),
  });

  function createLimiter(
    client: 'key' | 'failure' | 'page' | 'checkout',
    most = max,
    keyGenerator: (request: FastifyRequest) => string = clientNetwork,
  ) {
    const limit = app.createRateLimit({ max: most, keyGenerator });
    return async (request: FastifyRequest, options?: { readonly increment: false }) => {
      const state = await limit(request, options);
      // No limiter has a list of clients that are always let in.
      if (state.isAllowed) return;
      const exceeded = options === undefined ? state.isExceeded : state.remaining === 0;
      if (!exceeded) return;
      rateLimited.inc({ client });
      const message = `At most ${most} requests in ${windowSeconds} seconds are allowed.`;
      throw new ApiError('E9001', message, { retryAfterSeconds: state.ttlInSeconds });
    };
  }

  const failures = createLimiter('failure');
  const pages = createLimiter('page');
  const checkouts = createLimiter('checkout', max * CHECKOUT_FACTOR);
  const keys = createLimiter('key', max, ({ keyId }) => keyId ?? '');
  return {
    refuseExhaustedAddress: request => failures(request, { increment: false }),
    countFailure: request => failures(request),
    countPage: request => pages(request),
    countCheckout: request => checkouts(request),
    countKey: request => keys(request),
  };
}
