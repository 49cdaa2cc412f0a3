import type { FastifyReply, FastifyRequest } from 'fastify';
import { Counter } from 'prom-client';
import { ApiError } from '#errors/api-error.ts';
import {
  checkIdempotencyKey,
  type IdempotentRequest,
  type Outcome,
  sha256,
} from '#payments/idempotency.ts';
import { principalOf } from './authentication.ts';
import { sentValues } from './sent-values.ts';

const HEADER = 'idempotency-key';

const idempotentReplays = new Counter({
  name: 'eps_idempotent_replays_total',
  help: 'Creations that got the response kept under their idempotency key',
});

/**
 * Reads the Idempotency-Key and what identifies the request; undefined without the header.
 * @throws ApiError E4001
 */
export function readIdempotentRequest(
  request: FastifyRequest,
  now: Date,
): IdempotentRequest | undefined {
  const key = request.headers[HEADER];
  if (key === undefined) return undefined;
  // Node joins repeated headers with a comma, which would turn two keys into one valid key.
  if (typeof key !== 'string' || sentValues(request.raw, HEADER).length > 1) {
    throw new ApiError('E4001', 'Send one Idempotency-Key header.');
  }
  checkIdempotencyKey(key);
  const route = `${request.method} ${request.routeOptions.url}`;
  const { accountId } = principalOf(request);
  return { scope: { accountId, route, key }, bodySha256: sha256(request.rawBody), now };
}

/** Sends the bytes that are stored under the key. */
export function sendOutcome(
  reply: FastifyReply,
  { status, body, replayed }: Outcome,
): FastifyReply {
  if (replayed) {
    reply.header('idempotent-replayed', 'true');
    idempotentReplays.inc();
    noteReplay(reply.request, body);
  }
  // Retrying a replayed failure is of no use: it is replayed as long as it is stored.
  if (status >= 500) reply.header('x-mp-should-retry', String(!replayed));
  return reply.status(status).type('application/json; charset=utf-8').send(body);
}

/** Notes what a stored response says, for the request log. */
function noteReplay(request: FastifyRequest, body: Buffer): void {
  const { prompt, error } = JSON.parse(body.toString());
  request.isReplayed = true;
  request.paymentId = prompt?.id ?? null;
  request.errorCode = error?.errorCode ?? null;
}
