import type { TypeBoxTypeProvider } from '@fastify/type-provider-typebox';
import Fastify, { type FastifyBaseLogger, type FastifyInstance } from 'fastify';
import type { Config } from './config/config.ts';
import type { Keyring } from './crypto/keyring.ts';
import type { ChangeFeed } from './database/change-feed.ts';
import type { Database } from './database/connection.ts';
import { isDatabaseUnavailable } from './database/errors.ts';
import { FreshCache } from './database/fresh-cache.ts';
import type { Network } from './database/tables.ts';
import { registerDocs } from './docs/index.ts';
import { registerOpenApi } from './docs/openapi/index.ts';
import { ApiError } from './errors/api-error.ts';
import { registerErrorHandler } from './errors/handler.ts';
import { Admission } from './http/admission.ts';
import { registerAuthentication } from './http/authentication.ts';
import { registerJsonBody } from './http/json-body.ts';
import { registerOpenTelemetry } from './http/open-telemetry.ts';
import { createRateLimits } from './http/rate-limit.ts';
import { createRequestLog, registerRequestLog } from './http/request-log.ts';
import { closeIdleConnections, SERVER_OPTIONS } from './http/server-options.ts';
import { refuseUnknownRoutes } from './http/unknown-routes.ts';
import { answerUnreadableRequest, registerHttpRules } from './http/unreadable-request.ts';
import { registerValidation } from './http/validation.ts';
import type { KnownKey } from './keys/verify-credentials.ts';
import { CHECKOUT_PREFIX } from './payments/checkout-token.ts';
import { ProcessorUnavailable } from './payments/processor.ts';
import type { OpenProcessor } from './processors/open-processor.ts';
import type { Rates } from './rates/rate-source.ts';
import type { MerchantSetup } from './repositories/merchant-setup.ts';
import { registerCheckout } from './routes/checkout/index.ts';
import { renderUnreadable, sendRoutelessFailure } from './routes/failures-without-route.ts';
import { registerHealth } from './routes/health.ts';
import { registerLegacyRoutes } from './routes/legacy/index.ts';
import { LEGACY_PREFIX } from './routes/legacy/paths.ts';
import { PARTNER_PREFIX, registerPartnerRoutes } from './routes/partner/index.ts';
import { registerProcessor } from './routes/processor/index.ts';
import type { SignedApp } from './routes/signed-app.ts';
import { registerV1Routes, V1_PREFIX } from './routes/v1/index.ts';
import type { NonceStore } from './signing/nonce-store.ts';
import { createReadiness } from './telemetry/readiness.ts';
import type { Clock } from './time/clock.ts';

/** What the application works with. Their owner closes them after the application. */
export interface Dependencies {
  readonly db: Database;
  /** Connections that all requests share for short reads. */
  readonly reads: Database;
  /** A pool of its own for partner reports, possibly on a read replica. */
  readonly reports: Database;
  readonly keyring: Keyring;
  /** Invalidates what is remembered of accounts and networks. */
  readonly changes: ChangeFeed;
  readonly nonces: NonceStore;
  readonly rates: Rates;
  /** Collects payments on US accounts; null refuses to create them. */
  readonly processor: OpenProcessor | null;
  readonly clock: Clock;
  readonly logger: FastifyBaseLogger;
}

/** API keys, and merchants, remembered at once; each takes a few kilobytes. */
const ACCOUNTS_REMEMBERED = 10_000;

/**
 * Builds the API: the only place that registers anything, in the order in which it acts on a
 * request.
 */
export async function buildApp(config: Config, deps: Dependencies): Promise<FastifyInstance> {
  const { publicUrl } = config;
  const isDevelopment = config.environment !== 'production';
  const failures = { publicUrl, isUnavailable, sunset: config.legacySunset };
  const requestLog = createRequestLog(deps.logger);
  const app = Fastify({
    ...SERVER_OPTIONS,
    loggerInstance: deps.logger,
    trustProxy: config.trustProxy,
    frameworkErrors(error, request, reply) {
      requestLog.follow(request, reply);
      limits
        .countPage(request)
        .then(() => error)
        .catch(limited => limited)
        .then(failure => sendRoutelessFailure(failure, request, reply, failures));
    },
    clientErrorHandler: answerUnreadableRequest({
      render: (refusal, requestId, url) => renderUnreadable(refusal, requestId, url, failures),
      requestLog,
    }),
  }).withTypeProvider<TypeBoxTypeProvider>();

  registerRequestLog(app, requestLog);
  if (config.otlpEndpoint !== null) {
    await registerOpenTelemetry(app, { endpoint: config.otlpEndpoint, serviceName: 'eps-api' });
  }
  registerErrorHandler(app, failures);
  registerHttpRules(app);
  closeIdleConnections(app);
  registerValidation(app);
  const writeOpenApi = await registerOpenApi(app, publicUrl);
  const limits = await createRateLimits(app, {
    max: config.rateLimitMax,
    windowSeconds: config.rateLimitWindowSeconds,
    clock: deps.clock,
  });
  refuseUnknownRoutes(app, limits);

  registerHealth(app, createReadiness(deps));
  app.register(async docs => registerDocs(docs, { settings: config, limits, writeOpenApi }));
  app.register(
    async checkout =>
      registerCheckout(checkout, { ...deps, ...failures, limits, simulation: isDevelopment }),
    { prefix: CHECKOUT_PREFIX },
  );
  app.register(async processor => registerProcessor(processor, { ...deps, limits }));

  const admission = new Admission(config.requestsInFlightMax);
  const knownKeys = new FreshCache<KnownKey>(deps.changes, ACCOUNTS_REMEMBERED);
  const authentication = {
    ...deps,
    limits,
    admission,
    credentials: { db: deps.reads, keyring: deps.keyring, knownKeys },
    explainSignatures: isDevelopment,
  };
  const payments = {
    ...deps,
    publicUrl,
    allowLoopbackHttp: isDevelopment,
    payees: {
      db: deps.reads,
      setups: new FreshCache<MerchantSetup>(deps.changes, ACCOUNTS_REMEMBERED),
    },
  };
  const networks = new FreshCache<Network[]>(deps.changes, 1);

  /** Registers routes that ask for a signature. */
  function registerSigned(prefix: string, register: (scope: SignedApp) => void): void {
    app.register(
      async scope => {
        // Without a handler of its own, a prefix would fail as the older contract below /external.
        scope.setNotFoundHandler(() => {
          throw new ApiError('E3001');
        });
        registerJsonBody(scope);
        registerAuthentication(scope, authentication);
        register(scope.withTypeProvider<TypeBoxTypeProvider>());
      },
      { prefix },
    );
  }
  registerSigned(V1_PREFIX, v1 => registerV1Routes(v1, { ...deps, publicUrl, networks, payments }));
  registerSigned(PARTNER_PREFIX, partner => registerPartnerRoutes(partner, deps));
  app.register(
    async older =>
      registerLegacyRoutes(older, { ...deps, ...failures, limits, admission, payments }),
    { prefix: LEGACY_PREFIX },
  );
  return app;
}

/** Whether an error means that something the service depends on is unavailable. */
function isUnavailable(error: unknown): boolean {
  return isDatabaseUnavailable(error) || error instanceof ProcessorUnavailable;
}
