import type { ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { FastifyBaseLogger, FastifyInstance, FastifyServerOptions } from 'fastify';
import { v7 as uuidv7 } from 'uuid';
import { ApiError } from '../errors/api-error.ts';
import { toAnswer } from '../errors/envelope.ts';

interface UnreadableRequestOptions {
  readonly publicUrl: string;
  readonly logger: FastifyBaseLogger;
}

/**
 * How long a refused client may go on sending, in milliseconds: closing at once would reset the
 * connection and take the answer from it.
 */
const LINGER_MS = 2_000;

/** Answers that a connection still owes, in the order of its requests. */
const owed = new WeakMap<Socket, Set<ServerResponse>>();
const refused = new WeakSet<Socket>();

/**
 * Answers what Node's HTTP parser could not read as a request (broken framing, headers above its
 * limit, a request that never ends) in the envelope of every other refusal, and closes.
 */
export function answerUnreadableRequest({
  publicUrl,
  logger,
}: UnreadableRequestOptions): NonNullable<FastifyServerOptions['clientErrorHandler']> {
  return (error: Error & { code?: string }, socket: Socket) => {
    // Whatever else comes is thrown away until the client closes.
    if (refused.has(socket)) return;
    if (error.code === 'ECONNRESET' || !socket.writable) {
      socket.destroy();
      return;
    }
    // A refusal written now would be read as the answer to the request before it.
    const earlier = [...(owed.get(socket) ?? [])].findLast(({ req }) => req.complete);
    if (earlier !== undefined) {
      earlier.shouldKeepAlive = false;
      return;
    }
    refused.add(socket);
    const requestId = uuidv7();
    const refusal = new ApiError('E1000', 'The request is not readable HTTP.');
    const { status, headers, envelope } = toAnswer(refusal, requestId, publicUrl);
    const body = JSON.stringify(envelope);
    const lines = [
      `HTTP/1.1 ${status} Bad Request`,
      'Connection: close',
      'Content-Type: application/json; charset=utf-8',
      `Content-Length: ${Buffer.byteLength(body)}`,
      `X-Request-Id: ${requestId}`,
      ...Object.entries(headers).map(([name, value]) => `${name}: ${value}`),
    ];
    socket.end(`${lines.join('\r\n')}\r\n\r\n${body}`);
    setTimeout(() => socket.destroy(), LINGER_MS).unref();
    const { remoteAddress: address } = socket;
    // Only the code: the error itself holds the bytes that were sent.
    logger.info(
      { reqId: requestId, status, errorCode: 'E1000', reason: error.code, address },
      'request',
    );
  };
}

/** Takes over what Node would answer by itself, with an empty body and no request ID. */
export function registerHttpRules(app: FastifyInstance): void {
  app.server.on('request', (request, response) => {
    const responses = owed.get(request.socket) ?? new Set();
    owed.set(request.socket, responses.add(response));
    response.once('close', () => responses.delete(response));
  });
  // RFC 9110, 10.1.1: an expectation that is not understood may be ignored.
  app.server.on('checkExpectation', (request, response) => {
    app.server.emit('request', request, response);
  });
  app.addHook('onRequest', ({ raw }, _reply, done) => {
    // RFC 9112, 3.2.
    const refuse = raw.httpVersion === '1.1' && raw.headers.host === undefined;
    done(refuse ? new ApiError('E1000', 'The Host header is missing.') : undefined);
  });
}
