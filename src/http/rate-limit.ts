import type { FastifyRequest } from 'fastify';
import { ApiError } from '../errors/api-error.ts';
import { rateLimited } from '../telemetry/counts.ts';
import type { Clock } from '../time/clock.ts';
import { clientAddress } from './client-address.ts';
import { WindowCounter } from './window-counter.ts';

/** Counts requests in this replica's memory and refuses with E9001 above the limit. */
export interface RateLimits {
  /** Refuses an address that has used up its window, without counting this request. */
  refuseExhaustedAddress(request: FastifyRequest): void;
  /** Counts a request that no key answers for: failed authentication, unknown routes, pages. */
  countAddress(request: FastifyRequest): void;
  /** Counts a request of a checkout page, which asks every two seconds how the payment stands. */
  countCheckout(request: FastifyRequest): void;
  /** Counts a request whose signature held against its key. */
  countKey(keyId: string): void;
}

interface RateLimitOptions {
  /** Requests in each window. */
  readonly max: number;
  readonly windowSeconds: number;
  readonly clock: Clock;
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

/** Whose window was used up, for metrics. */
type ClientKind = 'address' | 'checkout' | 'key';

export function createRateLimits({ max, windowSeconds, clock }: RateLimitOptions): RateLimits {
  const counter = () => new WindowCounter(windowSeconds * 1000, CLIENTS_REMEMBERED, clock);
  const addresses = counter();
  const checkouts = counter();
  const keys = counter();
  const checkoutMax = max * CHECKOUT_FACTOR;

  function count(kind: ClientKind, counted: WindowCounter, client: string, most: number): void {
    if (counted.add(client) > most) throw exceeded(kind, counted.secondsLeft(client), most);
  }

  function exceeded(kind: ClientKind, retryAfterSeconds: number, most: number): ApiError {
    rateLimited.add(kind);
    const message = `At most ${most} requests in ${windowSeconds} seconds are allowed.`;
    return new ApiError('E9001', message, { retryAfterSeconds });
  }

  return {
    refuseExhaustedAddress(request) {
      // As good as always; to read the address takes longer than to look up the rest.
      if (addresses.isIdle) return;
      const address = clientAddress(request);
      if (addresses.count(address) < max) return;
      throw exceeded('address', addresses.secondsLeft(address), max);
    },
    countAddress: request => count('address', addresses, clientAddress(request), max),
    countCheckout: request => count('checkout', checkouts, clientAddress(request), checkoutMax),
    countKey: keyId => count('key', keys, keyId, max),
  };
}
