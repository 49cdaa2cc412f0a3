import { type IncomingMessage, maxHeaderSize, STATUS_CODES } from 'node:http';
import type { Socket } from 'node:net';
import type { FastifyInstance, FastifyServerOptions } from 'fastify';
import { newId } from '#crypto/new-id.ts';
import { ApiError, HeadTooLarge } from '#errors/api-error.ts';
import type { Connections } from './connections.ts';
import { type RequestLog, requestOf } from './request-log.ts';
import { canonicalAuthority, originOf } from './request-target.ts';
import { sentValues } from './sent-values.ts';

interface UnreadableRequestOptions {
  /** Sent with every response. */
  readonly headers: Readonly<Record<string, string>>;
  readonly connections: Connections;
  /** Renders the refusal. */
  readonly render: (refusal: ApiError, requestId: string, head: ReadHead) => UnreadableResponse;
  readonly requestLog: RequestLog;
}

type UnreadableError = Error & {
  readonly code?: string | undefined;
  readonly rawPacket?: unknown;
};

/** What was read of a request. */
export interface ReadHead {
  /** The request target; undefined if not even that was read. */
  readonly url: string | undefined;
  /** The headers that decide how to respond. */
  readonly headers: Pick<IncomingMessage['headers'], 'accept-language'>;
}

/** The response to a request that could not be read. */
export interface UnreadableResponse {
  readonly status: number;
  /** Include the body's media type. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

/**
 * How long a refused client may go on sending, in milliseconds. Closing at once would reset the
 * connection, and the client would lose the response.
 */
const LINGER_MS = 2_000;

/**
 * Most bytes of a URL and its headers together. Node reads twice as many, so that this service can refuse the request
 * itself.
 */
export const HEAD_LIMIT_BYTES = maxHeaderSize;
/** Node's error code for a head above its own limit. */
const OVERFLOW = 'HPE_HEADER_OVERFLOW';

/** The request target, at the beginning of the bytes that arrived. */
const REQUEST_TARGET = /^[A-Z]+ (\S+)/;
const ACCEPT_LANGUAGE = /\r\naccept-language:([^\r\n]*)\r\n/i;

const refused = new WeakSet<Socket>();

/**
 * Refuses what Node's HTTP parser could not read as a request (broken framing, headers above its limit, a
 * request that never ends) in the form of any other refusal, and closes the connection.
 */
export function refuseUnreadable({
  headers,
  connections,
  render,
  requestLog,
}: UnreadableRequestOptions): NonNullable<FastifyServerOptions['clientErrorHandler']> {
  return (error: UnreadableError, socket: Socket) => {
    // Everything that follows the refusal is ignored until the client closes.
    if (refused.has(socket)) return;
    // A client that sent nothing made no request: browsers and probes open such connections.
    if (error.code === 'ECONNRESET' || !socket.writable || socket.bytesRead === 0) {
      socket.destroy();
      return;
    }
    const { latest, pending } = connections.of(socket) ?? { latest: undefined, pending: [] };
    // If an earlier request still waits for its response, the client would take the refusal for that response.
    const earlier = pending.findLast(({ req }) => req.complete);
    if (earlier !== undefined) {
      earlier.shouldKeepAlive = false;
      return;
    }
    refused.add(socket);
    setTimeout(() => socket.destroy(), LINGER_MS).unref();
    if (latest?.complete === false && pending.length === 0) {
      // This is the rest of a body whose request was refused already.
      socket.end();
      return;
    }
    const [broken] = pending;
    const request = broken && requestOf(broken);
    const requestId = request?.id ?? newId();
    const refusal =
      error.code === OVERFLOW
        ? new HeadTooLarge(HEAD_LIMIT_BYTES)
        : new ApiError('E1000', 'The request is not readable HTTP.');
    const head = broken?.req ?? readHead(error);
    const response = render(refusal, requestId, { url: head.url, headers: head.headers });
    writeResponse(socket, { 'x-request-id': requestId, ...headers }, response);
    if (request !== undefined) {
      // It is recorded when its response closes.
      request.errorCode = refusal.errorCode;
      return;
    }
    requestLog.record({
      reqId: requestId,
      route: null,
      status: response.status,
      errorCode: refusal.errorCode,
      // Not the error itself, which holds the bytes that were sent.
      reason: error.code,
      address: socket.remoteAddress,
    });
  };
}

function writeResponse(
  socket: Socket,
  common: Readonly<Record<string, string>>,
  { status, headers, body }: UnreadableResponse,
) {
  const all = {
    connection: 'close',
    'content-length': String(Buffer.byteLength(body)),
    ...common,
    ...headers,
  };
  const lines = Object.entries(all).map(([name, value]) => `${name}: ${value}`);
  socket.end(`HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\n${lines.join('\r\n')}\r\n\r\n${body}`);
}

/**
 * Reads what arrived of an incomplete head. Node provides only the bytes that it read last, which begin with the
 * request unless it arrived in pieces.
 */
function readHead({ rawPacket }: UnreadableError): ReadHead {
  if (!Buffer.isBuffer(rawPacket)) return { url: undefined, headers: {} };
  const text = rawPacket.toString('latin1', 0, HEAD_LIMIT_BYTES);
  const [, url] = REQUEST_TARGET.exec(text) ?? [];
  const [, language = ''] = ACCEPT_LANGUAGE.exec(text) ?? [];
  return { url, headers: { 'accept-language': language.trim() } };
}

/** Refuses what Node would otherwise refuse itself, with an empty body and no request ID. */
export function registerHttpRules(app: FastifyInstance): void {
  // RFC 9110, 10.1.1: an expectation that is not understood may be ignored.
  app.server.on('checkExpectation', (request, response) => {
    app.server.emit('request', request, response);
  });
  app.addHook('onRequest', ({ raw }, reply, done) => {
    if (bytesOfHead(raw) > HEAD_LIMIT_BYTES) {
      reply.header('connection', 'close');
      return done(new HeadTooLarge(HEAD_LIMIT_BYTES));
    }
    // RFC 9112, 3.2.
    const hosts = sentValues(raw, 'host').length;
    if (hosts > 1) done(new ApiError('E1000', 'There is more than one Host header.'));
    else if (hosts === 0 && raw.httpVersion === '1.1') {
      done(new ApiError('E1000', 'The Host header is missing.'));
    } else if (namesOtherHost(raw)) {
      done(new ApiError('E1000', 'The request target and the Host header name different hosts.'));
    } else done();
  });
}

/**
 * Whether a target in absolute form names another host than the Host header, which has to be the same
 * (RFC 9112, 3.2): a proxy may have checked one of them, and this service would act on the other.
 */
function namesOtherHost({ url = '', headers: { host } }: IncomingMessage): boolean {
  if (url.startsWith('/') || host === undefined) return false;
  const origin = originOf(url);
  if (origin === undefined) return false;
  const { scheme, authority } = origin;
  return canonicalAuthority(scheme, authority) !== canonicalAuthority(scheme, host);
}

/** Size of the head, including the separators between and within headers. */
function bytesOfHead({ url = '', rawHeaders }: IncomingMessage): number {
  let bytes = url.length;
  for (const text of rawHeaders) bytes += text.length + 2;
  return bytes;
}
