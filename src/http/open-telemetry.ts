import type { FastifyInstance } from 'fastify';
import { CannotStart } from '#errors/cannot-start.ts';
import { traceContext } from '#telemetry/trace-context.ts';
import { setTrace } from './trace.ts';

interface TelemetryOptions {
  /** Base URL of a collector; its `/v1/traces` takes OTLP as JSON over HTTP. */
  readonly endpoint: string;
  readonly serviceName: string;
}

/** Timeout of an export, in milliseconds; shutdown waits for the last one. */
const EXPORT_TIMEOUT_MS = 3_000;

/**
 * Sends a span for every request to a collector. Call it before any route is registered.
 *
 * Hooks and handlers are not instrumented, since security depends on their order. A span contains what
 * the log does: route templates instead of paths, which contain checkout tokens, and error codes
 * instead of messages, which may quote input.
 * @throws CannotStart where the packages of OpenTelemetry are not installed.
 */
export async function registerOpenTelemetry(
  app: FastifyInstance,
  { endpoint, serviceName }: TelemetryOptions,
): Promise<void> {
  const [{ diag, DiagLogLevel, SpanStatusCode }, sdk, exporters, resources, plugin] =
    await loadPackages();
  const ignore = () => undefined;
  const warn = (reason: string) => app.log.warn({ reason }, 'spans could not be sent');
  diag.setLogger(
    { error: warn, warn: ignore, info: ignore, debug: ignore, verbose: ignore },
    DiagLogLevel.ERROR,
  );
  const exporter = new exporters.OTLPTraceExporter({
    url: `${endpoint}/v1/traces`,
    timeoutMillis: EXPORT_TIMEOUT_MS,
  });
  const provider = new sdk.NodeTracerProvider({
    resource: resources.resourceFromAttributes({ 'service.name': serviceName }),
    spanProcessors: [new sdk.BatchSpanProcessor(exporter)],
  });
  // Nothing else creates spans, so there is no context to propagate within the process.
  provider.register({ contextManager: null });

  const instrumentation = new plugin.FastifyOtelInstrumentation({
    instrumentHooks: false,
    instrumentHandler: false,
    recordExceptions: false,
    requestHook(span, request) {
      const route = request.routeOptions.url;
      span.updateName(route === undefined ? request.method : `${request.method} ${route}`);
      span.setAttribute('url.path', route ?? '');
      span.setAttribute('eps.request_id', request.id);
    },
  });
  instrumentation.setTracerProvider(provider);
  await app.register(instrumentation.plugin());

  app.addHook('onRequest', (request, reply, done) => {
    const context = request.opentelemetry().span?.spanContext();
    if (context !== undefined) {
      const { traceId, spanId, traceFlags, traceState } = context;
      const state = traceState?.serialize();
      setTrace(request, reply, traceContext(traceId, spanId, traceFlags, state));
    }
    done();
  });
  app.addHook('onSend', (request, reply, payload, done) => {
    const { span } = request.opentelemetry();
    if (request.errorCode !== null) span?.setAttribute('error.type', request.errorCode);
    // Replaces the status that the plugin sets for every error, with the error's message.
    const code = reply.statusCode >= 500 ? SpanStatusCode.ERROR : SpanStatusCode.OK;
    span?.setStatus({ code });
    done(null, payload);
  });
  // Spans that cannot be sent are lost; shutdown goes on.
  app.addHook('onClose', () => provider.shutdown().catch(error => warn(String(error))));
}

/** The packages of OpenTelemetry, optional dependencies that are loaded here alone. */
async function loadPackages() {
  try {
    return await Promise.all([
      import('@opentelemetry/api'),
      import('@opentelemetry/sdk-trace-node'),
      import('@opentelemetry/exporter-trace-otlp-http'),
      import('@opentelemetry/resources'),
      import('@fastify/otel'),
    ]);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ERR_MODULE_NOT_FOUND') throw error;
    throw new CannotStart(
      'OTEL_EXPORTER_OTLP_ENDPOINT is set, but the packages of OpenTelemetry are not installed: npm ci --include=optional brings them.',
      { cause: error },
    );
  }
}
