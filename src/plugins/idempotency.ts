import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Clock } from '../clock.ts';
import type { Connection, Database } from '../database/connection.ts';
import { inTransaction } from '../database/transaction.ts';
import { ApiError } from '../errors/api-error.ts';
import {
  checkIdempotencyKey,
  executeOnce,
  findReplay,
  type IdempotentRequest,
  type Outcome,
  sha256,
} from '../payments/idempotency.ts';
import { principalOf } from './authentication.ts';

const HEADER = 'idempotency-key';

interface Response {
  readonly status: number;
  readonly body: Buffer;
}

interface IdempotencyOptions {
  readonly db: Database;
  readonly clock: Clock;
  /** Renders and logs a failure of the work. */
  readonly onFailure: (request: FastifyRequest, error: unknown) => Response;
}

/** Idempotency of a state-changing route, in the two places of a request where it acts. */
export interface Idempotency {
  /** As preValidation: refuses a malformed key and answers a repeated request. */
  replay(request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply | undefined>;
  /** In the handler: runs the work in one transaction, at most once for the request's key. */
  execute(
    request: FastifyRequest,
    reply: FastifyReply,
    work: (tx: Connection) => Promise<Response>,
  ): Promise<void>;
}

export function createIdempotency({ db, clock, onFailure }: IdempotencyOptions): Idempotency {
  return {
    async replay(request, reply) {
      const idempotent = readRequest(request);
      if (idempotent === undefined) return undefined;
      const outcome = await findReplay(db, idempotent, new Date(clock()));
      return outcome === undefined ? undefined : send(reply, outcome);
    },
    async execute(request, reply, work) {
      const idempotent = readRequest(request);
      if (idempotent === undefined) {
        const response = await inTransaction(db, work);
        send(reply, { ...response, replayed: false });
        return;
      }
      const outcome = await executeOnce(db, idempotent, new Date(clock()), work, error =>
        onFailure(request, error),
      );
      send(reply, outcome);
    },
  };
}

/** @throws ApiError E4001 */
function readRequest(request: FastifyRequest): IdempotentRequest | undefined {
  const key = request.headers[HEADER];
  if (key === undefined) return undefined;
  // Node joins a repeated header with a comma, which would make one valid key of two.
  const names = request.raw.rawHeaders.filter((_text, index) => index % 2 === 0);
  const sent = names.filter(name => name.toLowerCase() === HEADER).length;
  if (typeof key !== 'string' || sent > 1) {
    throw new ApiError('E4001', 'Send one Idempotency-Key header.');
  }
  checkIdempotencyKey(key);
  const route = `${request.method} ${request.routeOptions.url}`;
  const { accountId } = principalOf(request);
  return { scope: { accountId, route, key }, bodySha256: sha256(request.rawBody) };
}

function send(reply: FastifyReply, { status, body, replayed }: Outcome): FastifyReply {
  if (replayed) reply.header('idempotent-replayed', 'true');
  // A replayed failure stays what it is for as long as it is kept.
  if (status >= 500) reply.header('x-mp-should-retry', String(!replayed));
  return reply.status(status).type('application/json; charset=utf-8').send(body);
}
