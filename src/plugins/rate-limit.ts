import rateLimit, { normalizeIP } from '@fastify/rate-limit';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { ApiError } from '../errors/api-error.ts';

/** Counts requests in this replica's memory and refuses with E9001 above the limit. */
export interface RateLimits {
  /** Refuses an address that has used up its window, without counting this request. */
  refuseExhaustedAddress(request: FastifyRequest): Promise<void>;
  /** Counts a request that no key answers for: failed authentication, unknown routes, pages. */
  countAddress(request: FastifyRequest): Promise<void>;
  /** Counts a request of a checkout page, which asks every two seconds how the payment stands. */
  countCheckout(request: FastifyRequest): Promise<void>;
  /** Counts a request whose signature held against its key. */
  countKey(request: FastifyRequest, keyId: string): Promise<void>;
}

interface RateLimitOptions {
  /** Requests in each window. */
  readonly max: number;
  readonly windowSeconds: number;
}

/**
 * Addresses and keys remembered at once. The least recently seen is forgotten first, so a flood of
 * addresses cannot push a key out: each kind has a memory of its own.
 */
const CLIENTS_REMEMBERED = 20_000;

/**
 * Checkout requests in a window, as a multiple of the limit: with 60 a minute, 600 from one address,
 * enough for twenty customers who poll from behind it. They do not use up the API's allowance.
 */
const CHECKOUT_FACTOR = 10;

const keyOfRequest = new WeakMap<FastifyRequest, string>();

/** Registers @fastify/rate-limit without its hooks and returns the limits to call by hand. */
export async function registerRateLimits(
  app: FastifyInstance,
  { max, windowSeconds }: RateLimitOptions,
): Promise<RateLimits> {
  const window = { max, timeWindow: windowSeconds * 1000, cache: CLIENTS_REMEMBERED };
  await app.register(rateLimit, { global: false });
  // A client that is gone already has no address any more. An IPv6 client is its /64 network.
  const addressOf = (request: FastifyRequest) => normalizeIP(request.ip ?? '');
  // Typed without `cache`, which the store of each limiter does take.
  const checkAddress = app.createRateLimit({
    ...window,
    keyGenerator: addressOf,
  } as Parameters<typeof app.createRateLimit>[0]);
  const checkoutMax = max * CHECKOUT_FACTOR;
  const checkCheckout = app.createRateLimit({
    ...window,
    max: checkoutMax,
    keyGenerator: addressOf,
  } as Parameters<typeof app.createRateLimit>[0]);
  const checkKey = app.createRateLimit({
    ...window,
    keyGenerator: (request: FastifyRequest) => keyOfRequest.get(request) ?? '',
  } as Parameters<typeof app.createRateLimit>[0]);

  return {
    async refuseExhaustedAddress(request) {
      const state = await checkAddress(request, { increment: false });
      if (!state.isAllowed && state.remaining === 0) throw exceeded(state.ttlInSeconds);
    },
    async countAddress(request) {
      const state = await checkAddress(request);
      if (!state.isAllowed && state.isExceeded) throw exceeded(state.ttlInSeconds);
    },
    async countCheckout(request) {
      const state = await checkCheckout(request);
      if (!state.isAllowed && state.isExceeded) throw exceeded(state.ttlInSeconds, checkoutMax);
    },
    async countKey(request, keyId) {
      keyOfRequest.set(request, keyId);
      const state = await checkKey(request);
      if (!state.isAllowed && state.isExceeded) throw exceeded(state.ttlInSeconds);
    },
  };

  function exceeded(seconds: number, most = max): ApiError {
    return new ApiError(
      'E9001',
      `At most ${most} requests in ${windowSeconds} seconds are allowed.`,
      { retryAfterSeconds: Math.max(1, seconds) },
    );
  }
}
