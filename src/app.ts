import type { TypeBoxTypeProvider } from '@fastify/type-provider-typebox';
import Fastify, {
  type FastifyBaseLogger,
  type FastifyInstance,
  type FastifyRequest,
} from 'fastify';
import type { Config } from './config/config.ts';
import type { Keyring } from './crypto/keyring.ts';
import type { ChangeFeed } from './database/change-feed.ts';
import type { Database } from './database/connection.ts';
import { isDatabaseUnavailable } from './database/failures.ts';
import { FreshCache } from './database/fresh-cache.ts';
import type { Network } from './database/tables.ts';
import { registerDocs } from './docs/index.ts';
import { registerOpenApi } from './docs/openapi/index.ts';
import { ApiError } from './errors/api-error.ts';
import { toAnswer } from './errors/envelope.ts';
import { logFailure, registerErrorHandler, sendError, toApiError } from './errors/handler.ts';
import { Admission } from './http/admission.ts';
import { type AuthenticationDependencies, registerAuthentication } from './http/authentication.ts';
import { registerJsonBody } from './http/json-body.ts';
import { registerOpenTelemetry } from './http/open-telemetry.ts';
import { createRateLimits } from './http/rate-limit.ts';
import { createRequestLog, registerRequestLog } from './http/request-log.ts';
import { closeIdleConnections, SERVER_OPTIONS } from './http/server-options.ts';
import { answerUnreadableRequest, registerHttpRules } from './http/unreadable-request.ts';
import { registerValidation } from './http/validation.ts';
import type { KnownKey } from './keys/verify-credentials.ts';
import { toLegacyRefusal } from './legacy/translate.ts';
import { ProcessorUnavailable } from './payments/processor.ts';
import { openProcessor } from './processors/open-processor.ts';
import type { Rates } from './rates/rate-source.ts';
import type { MerchantSetup } from './repositories/merchant-setup.ts';
import { CHECKOUT_PREFIX } from './routes/checkout/assets.ts';
import { sendFailure } from './routes/checkout/failures.ts';
import { registerCheckout } from './routes/checkout/index.ts';
import { registerHealth } from './routes/health.ts';
import { sendLegacyFailure, toLegacyAnswer } from './routes/legacy/failures.ts';
import { registerLegacyRoutes } from './routes/legacy/index.ts';
import { isLegacyPath, LEGACY_PREFIX } from './routes/legacy/paths.ts';
import { PARTNER_PREFIX, registerPartnerRoutes } from './routes/partner/index.ts';
import { registerProcessor } from './routes/processor/index.ts';
import { registerV1Routes, V1_PREFIX } from './routes/v1/index.ts';
import type { NonceStore } from './signing/nonce-store.ts';
import { unprotectedReads } from './telemetry/counts.ts';
import type { Clock } from './time/clock.ts';

/** What the application works with; whoever opened these closes them after the application. */
export interface Dependencies {
  readonly db: Database;
  /** Where requests read what takes no time: connections that all share. */
  readonly reads: Database;
  /** Where partner reports are read: a pool of its own, maybe on a read replica. */
  readonly reports: Database;
  readonly keyring: Keyring;
  /** Says what was changed of accounts and networks, and so what may be remembered. */
  readonly changes: ChangeFeed;
  readonly nonces: NonceStore;
  readonly rates: Rates;
  readonly clock: Clock;
  readonly logger: FastifyBaseLogger;
}

/** API keys, and merchants, that are remembered at once; each takes a few kilobytes. */
const ACCOUNTS_REMEMBERED = 10_000;

/**
 * Builds the API: the only place that registers anything, in the order in which it acts on a
 * request.
 */
export async function buildApp(config: Config, deps: Dependencies): Promise<FastifyInstance> {
  const isUnavailable = (error: unknown) =>
    isDatabaseUnavailable(error) || error instanceof ProcessorUnavailable;
  const errors = { publicUrl: config.publicUrl, isUnavailable };
  const legacy = { ...errors, sunset: config.legacySunset };
  const follow = createRequestLog(deps.logger);
  const admission = new Admission(config.requestsInFlightMax);
  const app = Fastify({
    ...SERVER_OPTIONS,
    loggerInstance: deps.logger,
    trustProxy: config.trustProxy,
    frameworkErrors: (error, request, reply) => {
      follow(request, reply);
      const send = (failure: unknown) => {
        if (isLegacyPath(request.url)) return sendLegacyFailure(failure, request, reply, legacy);
        const forPeople = request.url.startsWith(`${CHECKOUT_PREFIX}/`);
        return (forPeople ? sendFailure : sendError)(failure, request, reply, errors);
      };
      try {
        limits.countAddress(request);
        send(error);
      } catch (limited) {
        send(limited);
      }
    },
    clientErrorHandler: answerUnreadableRequest({
      answer: (refusal, requestId, url) =>
        url !== undefined && isLegacyPath(url)
          ? toLegacyAnswer(toLegacyRefusal(refusal), url, legacy)
          : toAnswer(refusal, requestId, config.publicUrl),
      logger: deps.logger,
    }),
  }).withTypeProvider<TypeBoxTypeProvider>();

  registerRequestLog(app, follow);
  if (config.otlpEndpoint !== null) {
    await registerOpenTelemetry(app, { endpoint: config.otlpEndpoint, serviceName: 'eps-api' });
  }
  registerErrorHandler(app, errors);
  registerHttpRules(app);
  closeIdleConnections(app);
  registerValidation(app);
  const writeOpenApi = await registerOpenApi(app, config.publicUrl);
  const limits = createRateLimits({
    max: config.rateLimitMax,
    windowSeconds: config.rateLimitWindowSeconds,
    clock: deps.clock,
  });
  // Not in a handler: Fastify would read and parse the body of a request that has no route first.
  app.addHook('onRequest', (request, _reply, done) => {
    if (request.is404) {
      limits.countAddress(request);
      throw new ApiError('E3001', `There is no ${request.method} on this path.`);
    }
    done();
  });

  const onExecutionFailure = (request: FastifyRequest, error: unknown) => {
    // Not E5002, which promises that the same key will do once the service is available again; but
    // a processor that is down fails the execution itself, and that answer is told and kept as it is.
    const apiError = toApiError(error, cause => cause instanceof ProcessorUnavailable);
    logFailure(request, apiError);
    request.errorCode = apiError.errorCode;
    const { status, envelope } = toAnswer(apiError, request.id, config.publicUrl);
    return { status, body: Buffer.from(JSON.stringify(envelope)) };
  };

  registerHealth(app, deps);
  app.register(async docs => registerDocs(docs, { context: config, limits, writeOpenApi }));
  app.register(
    async checkout =>
      registerCheckout(checkout, {
        ...deps,
        limits,
        publicUrl: config.publicUrl,
        simulation: config.environment !== 'production',
        isUnavailable,
      }),
    { prefix: CHECKOUT_PREFIX },
  );
  const processor = openProcessor(config, deps.keyring, deps.clock);
  if (processor === null) deps.logger.warn('no PROCESSOR is set: US accounts cannot take payments');
  app.register(async scope => registerProcessor(scope, { ...deps, limits, processor }));
  const knownKeys = new FreshCache<KnownKey>(deps.changes, ACCOUNTS_REMEMBERED);
  const authentication = {
    ...deps,
    admission,
    credentials: { db: deps.reads, keyring: deps.keyring, knownKeys },
    limits,
    explainSignatures: config.environment !== 'production',
    onUnprotectedRead: countUnprotectedReads(),
  };
  const setups = new FreshCache<MerchantSetup>(deps.changes, ACCOUNTS_REMEMBERED);
  const payments = {
    payees: { db: deps.reads, setups },
    clock: deps.clock,
    publicUrl: config.publicUrl,
    allowLoopbackHttp: config.environment !== 'production',
    processor,
  };
  // Without a handler of their own, paths below these prefixes would fail as those of the older contract.
  const notFound = () => {
    throw new ApiError('E3001');
  };
  app.register(
    async v1 => {
      v1.setNotFoundHandler(notFound);
      registerJsonBody(v1);
      registerAuthentication(v1, authentication);
      registerV1Routes(v1.withTypeProvider<TypeBoxTypeProvider>(), {
        db: deps.db,
        reads: deps.reads,
        networks: new FreshCache<Network[]>(deps.changes, 1),
        clock: deps.clock,
        payments,
        onExecutionFailure,
      });
    },
    { prefix: V1_PREFIX },
  );
  app.register(
    async partner => {
      partner.setNotFoundHandler(notFound);
      registerJsonBody(partner);
      registerAuthentication(partner, authentication);
      registerPartnerRoutes(partner.withTypeProvider<TypeBoxTypeProvider>(), deps);
    },
    { prefix: PARTNER_PREFIX },
  );
  app.register(
    async older => registerLegacyRoutes(older, { ...deps, ...legacy, limits, admission, payments }),
    { prefix: LEGACY_PREFIX },
  );
  return app;
}

/** Logs each read that goes through while the nonce store is down, with how many it has been. */
function countUnprotectedReads(): AuthenticationDependencies['onUnprotectedRead'] {
  let count = 0;
  return (request, error) => {
    count += 1;
    unprotectedReads.add();
    request.log.warn(
      { err: error, unprotectedReads: count },
      'read served without replay protection',
    );
  };
}
