import type { FastifyReply, FastifyRequest } from 'fastify';
import { readTraceContext, type TraceContext } from '../telemetry/trace-context.ts';

declare module 'fastify' {
  interface FastifyRequest {
    /** The trace that the request belongs to; null when it came without one. */
    trace: TraceContext | null;
  }
}

/** Takes over the trace that a request names. Without the header it costs a look for it. */
export function followTrace(request: FastifyRequest, reply: FastifyReply): void {
  const { traceparent, tracestate } = request.headers;
  const trace = traceparent === undefined ? null : readTraceContext(traceparent, tracestate);
  if (trace === null) return;
  setTrace(request, reply, trace);
}

/** Gives the request a trace, whose ID is in all its log lines from then on. */
export function setTrace(request: FastifyRequest, reply: FastifyReply, trace: TraceContext): void {
  request.trace = trace;
  request.log = reply.log = request.log.child({ traceId: trace.traceId });
}
