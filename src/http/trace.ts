import type { FastifyReply, FastifyRequest } from 'fastify';
import { readTraceContext, type TraceContext } from '#telemetry/trace-context.ts';

declare module 'fastify' {
  interface FastifyRequest {
    /** The trace context from the request's headers; null without one. */
    trace: TraceContext | null;
  }
}

/** Continues the trace that a request's headers name. */
export function followTrace(request: FastifyRequest, reply: FastifyReply): void {
  const { traceparent, tracestate } = request.headers;
  const trace = traceparent === undefined ? null : readTraceContext(traceparent, tracestate);
  if (trace === null) return;
  setTrace(request, reply, trace);
}

/** Assigns a trace to the request; all later log entries carry its ID. */
export function setTrace(request: FastifyRequest, reply: FastifyReply, trace: TraceContext): void {
  request.trace = trace;
  request.log = reply.log = request.log.child({ traceId: trace.traceId });
}
