import type { FastifyInstance } from 'fastify';
import { traceContext } from '../telemetry/trace-context.ts';
import { setTrace } from './trace.ts';

export interface TelemetryOptions {
  /** Base URL of a collector; its `/v1/traces` takes OTLP as JSON over HTTP. */
  readonly endpoint: string;
  readonly serviceName: string;
}

/** Longest that spans are tried to be sent, in milliseconds: an orderly end waits for that. */
const EXPORT_TIMEOUT_MS = 3_000;

/**
 * Sends a span of every request to a collector. To be called before any route is there; its packages
 * are loaded only then.
 *
 * Hooks and handlers are left as they are, for their order is security. A span says what the log
 * says: route templates in place of paths, which hold checkout tokens, and error codes in place of
 * messages, which may quote what was sent.
 */
export async function registerOpenTelemetry(
  app: FastifyInstance,
  { endpoint, serviceName }: TelemetryOptions,
): Promise<void> {
  const [
    { diag, DiagLogLevel, SpanStatusCode },
    sdk,
    { OTLPTraceExporter },
    { resourceFromAttributes },
    plugin,
  ] = await Promise.all([
    import('@opentelemetry/api'),
    import('@opentelemetry/sdk-trace-node'),
    import('@opentelemetry/exporter-trace-otlp-http'),
    import('@opentelemetry/resources'),
    import('@fastify/otel'),
  ]);
  const ignore = () => undefined;
  const warn = (reason: string) => app.log.warn({ reason }, 'spans could not be sent');
  diag.setLogger(
    { error: warn, warn: ignore, info: ignore, debug: ignore, verbose: ignore },
    DiagLogLevel.ERROR,
  );
  const exporter = new OTLPTraceExporter({
    url: `${endpoint}/v1/traces`,
    timeoutMillis: EXPORT_TIMEOUT_MS,
  });
  const provider = new sdk.NodeTracerProvider({
    resource: resourceFromAttributes({ 'service.name': serviceName }),
    spanProcessors: [new sdk.BatchSpanProcessor(exporter)],
  });
  // Nothing else makes spans, so nothing has to be found by whatever runs at the moment.
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
    // In place of the status that the plugin sets for every error, with its message.
    const code = reply.statusCode >= 500 ? SpanStatusCode.ERROR : SpanStatusCode.OK;
    span?.setStatus({ code });
    done(null, payload);
  });
  // What cannot be sent is lost, and no reason not to end.
  app.addHook('onClose', () => provider.shutdown().catch(error => warn(String(error))));
}
