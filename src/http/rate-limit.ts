import rateLimit from '@fastify/rate-limit';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { Counter } from 'prom-client';
import { ApiError } from '#errors/api-error.ts';
import type { Clock } from '#time/clock.ts';
import { clientNetwork, clientSite } from './client-address.ts';
import { rateLimitStore } from './rate-limit-store.ts';

declare module 'fastify' {
  interface FastifyRequest {
    /** ID of the credentials that signed the request; null until they are verified. */
    keyId: string | null;
    /** ID of the panel's session; null without one. */
    panelSessionId: string | null;
  }
}

/**
 * The rate limits of this replica. Each has an allowance of its own, so that a browser behind a merchant's
 * address, or a client that only knows a key ID, cannot use up the allowance of the merchant's server.
 * @throws ApiError E9001 above the limit, from every function.
 */
export interface RateLimits {
  /** Refuses an address whose failures have used up its allowance, without counting. */
  refuseExhaustedAddress(request: FastifyRequest): void;
  /** Counts a failed authentication, or an unauthenticated request that is refused, by address. */
  countFailure(request: FastifyRequest): void;
  /** Counts an authenticated request by `request.keyId`. */
  countKey(request: FastifyRequest): void;
  /** Counts documentation, processor pages and unknown paths by address. */
  countPage(request: FastifyRequest): Promise<void>;
  /** Counts checkout pages, which poll every two seconds, by address. */
  countCheckout(request: FastifyRequest): Promise<void>;
  /** Counts an attempt to sign in to the panel, by site. */
  countSignIn(request: FastifyRequest): Promise<void>;
  /** Counts a request of a session of the panel by `request.panelSessionId`. */
  countPanel(request: FastifyRequest): Promise<void>;
  /** Makes a secret in the panel; they are counted by the account in the path. */
  readonly countSecret: CountedWork<FastifyRequest>;
  /** Counts a signature that is explained in the panel, by person. */
  countExplanation(request: FastifyRequest): Promise<void>;
  /** Counts a wallet that is read in the panel, by person. */
  countWallet(request: FastifyRequest): Promise<void>;
  /** Counts a test that is sent to a webhook endpoint from the panel, by session. */
  countWebhookTest(request: FastifyRequest): Promise<void>;
  /** Opens a file to download in the panel; they are counted by person. */
  readonly countExport: CountedWork<FastifyRequest>;
  /** Redelivers an event in the panel; these are counted by the endpoint's ID. */
  readonly countRedelivery: CountedWork<string>;
  /** Redelivers in the panel what failed since a time; these calls are counted by the endpoint's ID. */
  readonly countBulkRedelivery: CountedWork<string>;
}

/**
 * Does limited work, and counts it once it is done. Above the limit it is refused before it begins. Work that throws,
 * or that returns undefined because there was nothing to do, is not counted.
 *
 * Since work counts only at its end, all that runs at once may have been admitted by the same count: together they may
 * exceed the limit by one less than their number.
 */
type CountedWork<By> = <T>(by: By, work: () => Promise<T>) => Promise<T>;

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

/** Attempts to sign in from a site, in five minutes: enough for an office behind one address. */
const SIGN_INS = { most: 20, seconds: 300 };
/** Requests of a panel session in a minute: a page and what it loads take five. */
const PANEL = { most: 300, seconds: 60 };
/** Secrets made in an account's panel in an hour. */
const SECRETS = { most: 10, seconds: 3_600 };
/** Signatures explained for a person in a minute; each may take 70 ms. */
const EXPLANATIONS = { most: 10, seconds: 60 };
/** Wallets read for a person in a minute; one whose address is not found takes seconds. */
const WALLETS = { most: 6, seconds: 60 };
/** Tests sent to webhook endpoints for a panel session in a minute; each may take 15 s. */
const WEBHOOK_TESTS = { most: 10, seconds: 60 };
/** Files that a person may download in an hour; each may hold, or be made of, millions of rows. */
const EXPORTS = { most: 6, seconds: 3_600 };
/** Events redelivered to an endpoint one by one in an hour: more than anybody looks at. */
export const REDELIVERIES = { most: 60, seconds: 3_600 };
/** Times that what failed is redelivered to an endpoint in an hour; each may be a thousand events. */
export const BULK_REDELIVERIES = { most: 6, seconds: 3_600 };

const rateLimited = new Counter({
  name: 'eps_rate_limited_total',
  help: 'Requests refused with E9001, by what was counted: a key, failures, pages, checkout pages or sign-ins of an address, a session of the panel, or secrets, explanations, wallets, webhook tests, files and redeliveries made there',
  labelNames: ['client'],
});

/** The metric's label: what is counted. */
type Limited =
  | 'key'
  | 'failure'
  | 'page'
  | 'checkout'
  | 'sign-in'
  | 'panel'
  | 'secret'
  | 'explanation'
  | 'wallet'
  | 'webhook-test'
  | 'export'
  | 'redelivery';

/** Counts a client's requests in windows of a fixed length, in this replica's memory. */
export async function createRateLimits(
  app: FastifyInstance,
  { max, windowSeconds, clock }: RateLimitOptions,
): Promise<RateLimits> {
  app.decorateRequest('keyId', null);
  app.decorateRequest('panelSessionId', null);
  const windowMs = windowSeconds * 1000;
  const Store = rateLimitStore(clock);
  await app.register(rateLimit, { global: false, timeWindow: windowMs, store: Store });

  function refuse(
    client: Limited,
    most: number,
    seconds: number,
    retryAfterSeconds: number,
  ): never {
    rateLimited.inc({ client });
    const message = `At most ${most} requests in ${seconds} seconds are allowed.`;
    throw new ApiError('E9001', message, {
      retryAfterSeconds,
      limit: { name: client, most, windowSeconds: seconds },
    });
  }

  function createLimiter(
    client: Limited,
    { most = max, seconds = windowSeconds }: { most?: number; seconds?: number } = {},
    keyGenerator: (request: FastifyRequest) => string = clientNetwork,
  ) {
    const limit = app.createRateLimit({ max: most, timeWindow: seconds * 1000, keyGenerator });
    return async (request: FastifyRequest) => {
      const state = await limit(request);
      // `isAllowed` is true only for clients of an allow list, which no limiter has.
      if (!state.isAllowed && state.isExceeded) refuse(client, most, seconds, state.ttlInSeconds);
    };
  }

  const refuseFrom =
    (count: number, client: Limited, { most = max, seconds = windowSeconds } = {}) =>
    (_error: unknown, window?: { current: number; ttl: number }) => {
      if (window === undefined || window.current < count) return;
      refuse(client, most, seconds, Math.ceil(window.ttl / 1000));
    };

  function countWork<By>(
    client: Limited,
    { most, seconds }: { most: number; seconds: number },
    keyOf: (by: By) => string,
  ): CountedWork<By> {
    const store = new Store();
    const exhausted = refuseFrom(most, client, { most, seconds });
    return async (by, work) => {
      const key = keyOf(by);
      store.read(key, exhausted, seconds * 1000);
      const result = await work();
      if (result !== undefined) store.incr(key, () => undefined, seconds * 1000);
      return result;
    };
  }

  // The limits of signed requests call the store directly: the plugin's limiter awaits several promises per request.
  const [failures, keys] = [new Store(), new Store()];
  const failed = refuseFrom(max + 1, 'failure');
  const exhausted = refuseFrom(max, 'failure');
  const used = refuseFrom(max + 1, 'key');

  const pages = createLimiter('page');
  const checkouts = createLimiter('checkout', { most: max * CHECKOUT_FACTOR });
  const signIns = createLimiter('sign-in', SIGN_INS, clientSite);
  const sessionOf = ({ panelSessionId }: FastifyRequest) => panelSessionId ?? '';
  const panel = createLimiter('panel', PANEL, sessionOf);
  const personOf = ({ visit }: FastifyRequest) => visit?.session?.person.id ?? '';
  const explanations = createLimiter('explanation', EXPLANATIONS, personOf);
  const wallets = createLimiter('wallet', WALLETS, personOf);
  const webhookTests = createLimiter('webhook-test', WEBHOOK_TESTS, sessionOf);
  const accountOf = ({ visit }: FastifyRequest) => visit?.membership?.accountId ?? '';
  const itself = (id: string) => id;
  return {
    refuseExhaustedAddress: request => failures.read(clientNetwork(request), exhausted, windowMs),
    countFailure: request => failures.incr(clientNetwork(request), failed, windowMs),
    countKey: ({ keyId }) => keys.incr(keyId ?? '', used, windowMs),
    countPage: pages,
    countCheckout: checkouts,
    countSignIn: signIns,
    countPanel: panel,
    countSecret: countWork('secret', SECRETS, accountOf),
    countExplanation: explanations,
    countWallet: wallets,
    countWebhookTest: webhookTests,
    countExport: countWork('export', EXPORTS, personOf),
    countRedelivery: countWork('redelivery', REDELIVERIES, itself),
    countBulkRedelivery: countWork('redelivery', BULK_REDELIVERIES, itself),
  };
}
