import type { TypeBoxTypeProvider } from '@fastify/type-provider-typebox';
import Fastify, { type FastifyInstance, type FastifyRequest } from 'fastify';
import type { KnownKey } from '#accounts/keys/verify-credentials.ts';
import { openBreachedPasswords } from '#accounts/people/breached-passwords.ts';
import { DeferredExplanations } from '#accounts/requests/deferred-explanations.ts';
import { RequestRecorder } from '#accounts/requests/recorder.ts';
import type { Config } from '#config/config.ts';
import { ApiError } from '#errors/api-error.ts';
import { statusOf } from '#errors/envelope.ts';
import { registerErrorHandler, sendError } from '#errors/handler.ts';
import { Admission } from '#http/admission.ts';
import { clientAddressReader } from '#http/client-address.ts';
import { Connections } from '#http/connections.ts';
import { registerGracefulClose } from '#http/graceful-close.ts';
import { KeyUsage } from '#http/key-usage.ts';
import { registerOpenTelemetry } from '#http/open-telemetry.ts';
import { createRateLimits } from '#http/rate-limit.ts';
import { createRequestLog, registerRequestLog } from '#http/request-log.ts';
import { securityHeaders } from '#http/security-headers.ts';
import { serverOptions } from '#http/server-options.ts';
import { trustedProxies } from '#http/trusted-proxies.ts';
import { isUnavailable } from '#http/unavailable.ts';
import { explainUnknownRoutes, refuseUnknownRoutes } from '#http/unknown-routes.ts';
import { limitUnreadResponses } from '#http/unread-responses.ts';
import { refuseUnreadable, registerHttpRules } from '#http/unreadable-request.ts';
import { registerValidation } from '#http/validation.ts';
import { wantsHtml } from '#http/wants-html.ts';
import { CHECKOUT_PREFIX } from '#payments/checkout-path.ts';
import type { Dependencies } from '#runtime/dependencies.ts';
import { FreshCache } from '#storage/database/fresh-cache.ts';
import type { Network } from '#storage/database/network-tables.ts';
import type { MerchantSetup } from '#storage/repositories/accounts/merchant-setup.ts';
import { registerHealth } from '#surfaces/api/health.ts';
import { PARTNER_PREFIX, registerPartnerRoutes } from '#surfaces/api/partner/index.ts';
import { processorPlugin } from '#surfaces/api/processor/index.ts';
import { signedPlugin } from '#surfaces/api/signed-app.ts';
import { registerV1Routes, V1_PREFIX } from '#surfaces/api/v1/index.ts';
import { registerWellKnown } from '#surfaces/api/well-known.ts';
import { checkoutPlugin } from '#surfaces/checkout/page/index.ts';
import { docsPlugin } from '#surfaces/docs/index.ts';
import { createMissingPage } from '#surfaces/docs/missing.ts';
import { registerOpenApi } from '#surfaces/docs/openapi/index.ts';
import { refuseWithoutRoute, renderUnreadable } from '#surfaces/failures-without-route.ts';
import { legacyPlugin } from '#surfaces/legacy/routes/index.ts';
import { LEGACY_PREFIX } from '#surfaces/legacy/routes/paths.ts';
import { createPanelCookies } from '#surfaces/panel/hooks/cookies.ts';
import { panelPlugin } from '#surfaces/panel/index.ts';
import { PANEL_PREFIX } from '#surfaces/panel/kit/assets.ts';
import { keepPanelOnOwnHost } from '#surfaces/panel/own-host.ts';
import { CpuBudget } from '#time/cpu-budget.ts';

/** Maximum cached API keys, and maximum cached merchants; each takes a few kilobytes. */
const ACCOUNTS_REMEMBERED = 10_000;

/** Builds the API. Everything is registered here, in the order in which it handles a request. */
export async function buildApp(config: Config, deps: Dependencies): Promise<FastifyInstance> {
  const { panelUrl, publicUrl, retentionDays, simulation } = config;
  const isDevelopment = config.environment !== 'production';
  const { legacyDeprecation: deprecation, legacySunset: sunset } = config;
  const failures = { publicUrl, isUnavailable, simulation, deprecation, sunset };
  const headers = securityHeaders(publicUrl);
  const { logger } = deps;
  const trusts = trustedProxies(config.trustProxy);
  const readAddress = clientAddressReader({ trusts, header: config.trustProxyHeader, logger });
  const requestLog = createRequestLog(logger, headers, readAddress);
  const connections = new Connections();
  const app = Fastify({
    ...serverOptions(),
    loggerInstance: deps.logger,
    trustProxy: trusts,
    frameworkErrors: refuseWithoutRoute(requestLog, failures, request => limits.countPage(request)),
    clientErrorHandler: refuseUnreadable({
      headers,
      connections,
      render: (refusal, requestId, head) => renderUnreadable(refusal, requestId, head, failures),
      requestLog,
    }),
  }).withTypeProvider<TypeBoxTypeProvider>();

  registerRequestLog(app, requestLog);
  if (config.otlpEndpoint !== null) {
    await registerOpenTelemetry(app, { endpoint: config.otlpEndpoint, serviceName: 'eps-api' });
  }
  const sendMissing = createMissingPage(config);
  registerErrorHandler(app, failures, (error, request, reply, options) =>
    isUnknownPath(error, request) && wantsHtml(request)
      ? sendMissing(request, reply)
      : sendError(error, request, reply, options),
  );
  registerGracefulClose(app, connections);
  limitUnreadResponses(app);
  registerValidation(app);
  const writeOpenApi = await registerOpenApi(app, publicUrl);
  const limits = await createRateLimits(app, {
    max: config.rateLimitMax,
    windowSeconds: config.rateLimitWindowSeconds,
    clock: deps.clock,
  });
  const explainUnknownRoute = explainUnknownRoutes(app);
  const explaining = new CpuBudget(deps.clock);
  const panel = panelUrl !== null && {
    ...deps,
    ...failures,
    panelUrl,
    limits,
    explaining,
    explainUnknownRoute,
    admitsDemo: isDevelopment,
    requestsKept: config.requestLog,
    sendsMail: config.mail !== null,
    addressDelayMs: config.addressDelayHours * 60 * 60_000,
    allowsLoopback: isDevelopment,
    cookies: createPanelCookies(panelUrl),
    isBreached: openBreachedPasswords(config.breachedPasswordsUrl, { log: deps.logger }),
  };
  // First, so that a path that its host does not serve is refused in the form of that host.
  if (panel) keepPanelOnOwnHost(app, { ...panel, sendMissing });
  registerHttpRules(app);
  refuseUnknownRoutes(app, limits, explainUnknownRoute, isLeftToPanel);

  registerHealth(app, deps.readiness);
  registerWellKnown(app, { db: deps.reads, limits });
  app.register(docsPlugin, { settings: config, limits, sendMissing, writeOpenApi });
  app.register(checkoutPlugin, { ...deps, ...failures, limits, prefix: CHECKOUT_PREFIX });
  if (panel) app.register(panelPlugin, { ...panel, prefix: PANEL_PREFIX });
  app.register(processorPlugin, { ...deps, ...failures, limits });

  const admission = new Admission(config.requestsInFlightMax);
  admission.holdConnections(app);
  const knownKeys = new FreshCache<KnownKey>(deps.changes, ACCOUNTS_REMEMBERED);
  const usage = new KeyUsage(deps.db, deps.clock, deps.logger);
  const recorder = new RequestRecorder(deps.db, error =>
    deps.logger.warn({ err: error }, 'requests are missing in the request log'),
  );
  const explanations = new DeferredExplanations(deps.clock, explaining, error =>
    deps.logger.error({ err: error }, 'signature not explained'),
  );
  // In parallel: while the database does not respond, each takes its full timeout.
  app.addHook('onClose', async () => {
    const recorded = explanations.close().then(() => recorder.close());
    await Promise.all([usage.close(), recorded]);
  });
  const recording = { kept: config.requestLog, recorder, explanations, clock: deps.clock };
  const signed = {
    ...deps,
    limits,
    admission,
    usage,
    recording,
    credentials: { db: deps.reads, keyring: deps.keyring, knownKeys },
    explainSignatures: isDevelopment,
    publicUrl,
  };
  const payments = {
    ...deps,
    publicUrl,
    simulation,
    allowLoopbackHttp: isDevelopment,
    payees: {
      db: deps.reads,
      setups: new FreshCache<MerchantSetup>(deps.changes, ACCOUNTS_REMEMBERED),
    },
  };
  // One list for live merchants, and one for test merchants.
  const networks = new FreshCache<Network[]>(deps.changes, 2);
  app.register(signedPlugin, {
    ...signed,
    prefix: V1_PREFIX,
    register: v1 =>
      registerV1Routes(v1, {
        ...deps,
        publicUrl,
        simulation,
        networks,
        payments,
        retentionDays,
      }),
  });
  app.register(signedPlugin, {
    ...signed,
    prefix: PARTNER_PREFIX,
    register: partner => registerPartnerRoutes(partner, deps),
  });
  const legacy = { ...deps, ...failures, limits, admission, payments };
  app.register(legacyPlugin, { ...legacy, prefix: LEGACY_PREFIX });
  return app;
}

/** Whether a request failed because its path belongs to no part of the service. */
function isUnknownPath(error: unknown, { is404, server }: FastifyRequest): boolean {
  return is404 && server.prefix === '' && error instanceof ApiError && statusOf(error) === 404;
}

/** The panel refuses unknown paths itself, by a page with the navigation of the visitor's account. */
function isLeftToPanel({ server }: FastifyRequest): boolean {
  return server.prefix === PANEL_PREFIX;
}
