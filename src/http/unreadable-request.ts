import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { FastifyBaseLogger, FastifyInstance, FastifyServerOptions } from 'fastify';
import { newId } from '../crypto/new-id.ts';
import { ApiError } from '../errors/api-error.ts';
import { httpRequests } from '../telemetry/counts.ts';
import { requestOf } from './request-log.ts';

interface UnreadableRequestOptions {
  /**
   * Renders the refusal.
   * @param url Target of the request that broke off; undefined when not even that was read.
   */
  readonly answer: (refusal: ApiError, requestId: string, url: string | undefined) => Answer;
  readonly logger: FastifyBaseLogger;
}

interface Answer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  /** Sent as JSON. */
  readonly envelope: object;
}

/**
 * How long a refused client may go on sending, in milliseconds: closing at once would reset the
 * connection and take the answer from it.
 */
const LINGER_MS = 2_000;

/** What a connection has brought so far. */
interface Exchange {
  latest: IncomingMessage;
  /** Answers not given yet, in the order of their requests. */
  readonly owed: ServerResponse[];
}

const exchanges = new WeakMap<Socket, Exchange>();
const refused = new WeakSet<Socket>();

/**
 * Answers what Node's HTTP parser could not read as a request (broken framing, headers above its
 * limit, a request that never ends) as any other refusal is answered, and closes.
 */
export function answerUnreadableRequest({
  answer,
  logger,
}: UnreadableRequestOptions): NonNullable<FastifyServerOptions['clientErrorHandler']> {
  return (error: Error & { code?: string }, socket: Socket) => {
    // Whatever else comes is thrown away until the client closes.
    if (refused.has(socket)) return;
    if (error.code === 'ECONNRESET' || !socket.writable) {
      socket.destroy();
      return;
    }
    const exchange = exchanges.get(socket);
    const owed = exchange?.owed ?? [];
    // A refusal written now would be read as the answer to the request before it.
    const earlier = owed.findLast(({ req }) => req.complete);
    if (earlier !== undefined) {
      earlier.shouldKeepAlive = false;
      return;
    }
    refused.add(socket);
    setTimeout(() => socket.destroy(), LINGER_MS).unref();
    if (exchange?.latest.complete === false && owed.length === 0) {
      // What breaks is the body of a request that was refused already.
      socket.end();
      return;
    }
    const [broken] = owed;
    const request = broken === undefined ? undefined : requestOf(broken);
    const requestId = request?.id ?? newId();
    const refusal = new ApiError('E1000', 'The request is not readable HTTP.');
    const { status, headers, envelope } = answer(refusal, requestId, broken?.req.url);
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
    if (request !== undefined) {
      request.errorCode = refusal.errorCode;
      return;
    }
    const { remoteAddress: address } = socket;
    httpRequests.add('other', 'none', String(status), refusal.errorCode);
    // Only the code: the error itself holds the bytes that were sent.
    logger.info(
      { reqId: requestId, status, errorCode: refusal.errorCode, reason: error.code, address },
      'request',
    );
  };
}

/** Takes over what Node would answer by itself, with an empty body and no request ID. */
export function registerHttpRules(app: FastifyInstance): void {
  app.server.on('request', (request, response) => {
    let exchange = exchanges.get(request.socket);
    if (exchange === undefined) {
      exchange = { latest: request, owed: [] };
      exchanges.set(request.socket, exchange);
    }
    const { owed } = exchange;
    exchange.latest = request;
    owed.push(response);
    response.once('close', () => owed.splice(owed.indexOf(response), 1));
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
