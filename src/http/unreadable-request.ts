import type { Socket } from 'node:net';
import type { FastifyInstance, FastifyServerOptions } from 'fastify';
import { newId } from '../crypto/new-id.ts';
import { ApiError } from '../errors/api-error.ts';
import type { Connections } from './connections.ts';
import { type RequestLog, requestOf } from './request-log.ts';
import { SECURITY_HEADERS } from './security-headers.ts';

interface UnreadableRequestOptions {
  readonly connections: Connections;
  /**
   * Renders the refusal.
   * @param url Target of the request that broke off; undefined when not even that was read.
   */
  readonly render: (refusal: ApiError, requestId: string, url: string | undefined) => Answer;
  readonly requestLog: RequestLog;
}

interface Answer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  /** Sent as JSON. */
  readonly envelope: object;
}

/**
 * How long a refused client may go on sending, in milliseconds. Closing at once would reset the
 * connection, and the client would lose the answer.
 */
const LINGER_MS = 2_000;

const refused = new WeakSet<Socket>();

/**
 * Answers what Node's HTTP parser could not read as a request (broken framing, headers above its
 * limit, a request that never ends) as any other refusal is answered, and closes the connection.
 */
export function answerUnreadableRequest({
  connections,
  render,
  requestLog,
}: UnreadableRequestOptions): NonNullable<FastifyServerOptions['clientErrorHandler']> {
  return (error: Error & { code?: string }, socket: Socket) => {
    // Everything that follows the refusal is ignored until the client closes.
    if (refused.has(socket)) return;
    // Who has sent nothing in time has asked for nothing: browsers and probes open such connections.
    if (error.code === 'ECONNRESET' || !socket.writable || socket.bytesRead === 0) {
      socket.destroy();
      return;
    }
    const { latest, pending } = connections.of(socket) ?? { latest: undefined, pending: [] };
    // The client would take a refusal written now for the answer to its previous request.
    const earlier = pending.findLast(({ req }) => req.complete);
    if (earlier !== undefined) {
      earlier.shouldKeepAlive = false;
      return;
    }
    refused.add(socket);
    setTimeout(() => socket.destroy(), LINGER_MS).unref();
    if (latest?.complete === false && pending.length === 0) {
      // The rest of a body whose request was refused already.
      socket.end();
      return;
    }
    const [broken] = pending;
    const request = broken && requestOf(broken);
    const requestId = request?.id ?? newId();
    const refusal = new ApiError('E1000', 'The request is not readable HTTP.');
    const answer = render(refusal, requestId, broken?.req.url);
    writeAnswer(socket, requestId, answer);
    if (request !== undefined) {
      // The close of its response records it.
      request.errorCode = refusal.errorCode;
      return;
    }
    requestLog.record({
      reqId: requestId,
      route: null,
      status: answer.status,
      errorCode: refusal.errorCode,
      // Not the error itself, which holds the bytes that were sent.
      reason: error.code,
      address: socket.remoteAddress,
    });
  };
}

function writeAnswer(socket: Socket, requestId: string, { status, headers, envelope }: Answer) {
  const body = JSON.stringify(envelope);
  const all = {
    connection: 'close',
    'content-type': 'application/json; charset=utf-8',
    'content-length': String(Buffer.byteLength(body)),
    'x-request-id': requestId,
    ...SECURITY_HEADERS,
    ...headers,
  };
  const lines = Object.entries(all).map(([name, value]) => `${name}: ${value}`);
  socket.end(`HTTP/1.1 ${status} Bad Request\r\n${lines.join('\r\n')}\r\n\r\n${body}`);
}

/** Takes over what Node would answer by itself, with an empty body and no request ID. */
export function registerHttpRules(app: FastifyInstance): void {
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
