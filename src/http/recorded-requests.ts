import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { KEY_ID } from '#accounts/input.ts';
import type { DeferredExplanations, Mismatch } from '#accounts/requests/deferred-explanations.ts';
import type { AnsweredRequest, RequestRecorder } from '#accounts/requests/recorder.ts';
import {
  RECORDED_UNVERIFIED,
  type RequestLogMode,
  storedExplanation,
  storedParam,
  storedTarget,
} from '#accounts/requests/stored-fields.ts';
import type { Clock } from '#time/clock.ts';

declare module 'fastify' {
  interface FastifyRequest {
    /** The payment that the request created, or whose creation it replayed. */
    paymentId: string | null;
    /** Whether the response was replayed from an idempotency key. */
    isReplayed: boolean;
    /** What is needed to explain a wrong signature. */
    mismatch: Mismatch | null;
  }
}

/** What records requests in the request log. */
export interface Recording {
  readonly kept: RequestLogMode;
  readonly recorder: RequestRecorder;
  readonly explanations: DeferredExplanations;
  readonly clock: Clock;
}

/**
 * Records the signed requests of `app` that the request log keeps, once their responses are ready, even if the client
 * is gone by then: a payment may have been created. Headers and bodies are not recorded.
 */
export function recordRequests(app: FastifyInstance, recording: Recording): void {
  app.decorateRequest('paymentId', null);
  app.decorateRequest('isReplayed', false);
  app.decorateRequest('mismatch', null);
  if (recording.kept === 'off') return;
  const keepsReads = recording.kept === 'all';
  app.addHook('onSend', (request, reply, payload, done) => {
    if (request.errorCode !== null || keepsReads || !isRead(request)) {
      record(request, reply, recording);
    }
    done(null, payload);
  });
}

function isRead({ method }: FastifyRequest): boolean {
  return method === 'GET' || method === 'HEAD';
}

function record(
  request: FastifyRequest,
  reply: FastifyReply,
  { recorder, explanations, clock }: Recording,
): void {
  const { errorCode, keyId, mismatch } = request;
  if (keyId !== null) {
    recorder.add(describe(request, reply, keyId, clock));
    return;
  }
  const claimed = request.headers['x-mp-key-id'];
  if (typeof claimed !== 'string' || !KEY_ID.test(claimed)) return;
  if (errorCode === null || !RECORDED_UNVERIFIED.has(errorCode)) return;
  const unverified = { ...describe(request, reply, claimed, clock), errorCode };
  if (mismatch === null) {
    recorder.count(unverified);
    return;
  }
  const passphrase = request.headers['x-mp-passphrase'];
  explanations.explain(claimed, mismatch, found =>
    recorder.count(unverified, found && storedExplanation(found, passphrase)),
  );
}

function describe(
  request: FastifyRequest,
  reply: FastifyReply,
  keyId: string,
  clock: Clock,
): AnsweredRequest {
  const milliseconds = Math.round(reply.elapsedTime);
  const passphrase = request.headers['x-mp-passphrase'];
  return {
    id: request.id,
    at: new Date(clock() - milliseconds),
    keyId,
    method: request.method,
    target: storedTarget(request.raw.url ?? '', passphrase),
    status: reply.statusCode,
    errorCode: request.errorCode,
    param: storedParam(request.errorParam, passphrase),
    milliseconds,
    address: request.clientAddress ?? '',
    replayed: request.isReplayed,
    paymentId: request.paymentId,
  };
}
