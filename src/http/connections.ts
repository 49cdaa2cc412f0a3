import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { Counter } from 'prom-client';

/** What a connection has brought so far. */
export interface Connection {
  latest: IncomingMessage | undefined;
  /** Responses that are not written whole, in the order of their requests. */
  readonly pending: ServerResponse[];
  /** Bytes received when it was looked at last, and how often in a row there were no more. */
  received: number;
  silent: number;
  /** Bytes that wait to be written, and how often in a row there were as many. */
  unwritten: number;
  stalled: number;
}

/** When a connection is ended for what its client does not do, in milliseconds. */
export interface Patience {
  /** A write that makes no progress for so long ends its connection. */
  readonly stallMs: number;
  /** How often that is looked at. */
  readonly stallCheckMs: number;
  /** Longest that a request which is on its way may take to arrive once the server closes. */
  readonly closingMs: number;
}

export const PATIENCE: Patience = { stallMs: 10_000, stallCheckMs: 1_000, closingMs: 5_000 };

/** How often connections are looked at while the server closes, in milliseconds. */
const CLOSING_CHECK_MS = 100;
/** Looks without a byte after which a connection that carries no request is closed. */
const CLOSING_SILENCE = 2;

const ended = new Counter({
  name: 'eps_http_connections_ended_total',
  help: 'Connections ended because of answers their client did not read: a write that made no progress (stalled), or too much that waited for one client (unread)',
  labelNames: ['reason'],
});

/** Ends a connection whose client does not read; what waits to be written, in the kernel too, is freed. */
export function endUnread(socket: Socket, reason: 'stalled' | 'unread'): void {
  if (socket.destroyed) return;
  ended.inc({ reason });
  socket.resetAndDestroy();
}

/** The connections of a server, with the requests that each has brought. */
export class Connections {
  readonly #open = new Map<Socket, Connection>();
  readonly #patience: Patience;
  #stallCheck: NodeJS.Timeout | undefined;
  #closingCheck: NodeJS.Timeout | undefined;
  #draining = false;

  constructor(patience = PATIENCE) {
    this.#patience = patience;
  }

  of(socket: Socket): Connection | undefined {
    return this.#open.get(socket);
  }

  /** Follows every connection of the server from now until `stop`. */
  follow(server: Server): void {
    server.on('connection', socket => this.#begin(socket));
    server.on('request', (request, response) => this.#add(request, response));
    // Node calls it when a server closes, and ends connections whose answer is still being written.
    server.closeIdleConnections = () => undefined;
    this.#stallCheck = setInterval(() => this.#endStalled(), this.#patience.stallCheckMs).unref();
  }

  /** Announces with every answer from now on that its connection closes. */
  drain(): void {
    this.#draining = true;
    for (const { pending } of this.#open.values()) closeAfter(pending);
  }

  /**
   * Lets a server that closes come to its end: answers are completed, and connections that carry none are
   * closed. Node bounds the arrival of requests no more once a server closes, so that is done here.
   */
  close(): void {
    const began = performance.now();
    const look = () => this.#closeIdle(performance.now() - began);
    this.#closingCheck = setInterval(look, CLOSING_CHECK_MS);
  }

  /** Stops looking, once every connection is closed. */
  stop(): void {
    clearInterval(this.#stallCheck);
    clearInterval(this.#closingCheck);
  }

  #begin(socket: Socket): void {
    const counts = { received: 0, silent: 0, unwritten: 0, stalled: 0 };
    this.#open.set(socket, { latest: undefined, pending: [], ...counts });
    socket.once('close', () => this.#open.delete(socket));
  }

  #add(request: IncomingMessage, response: ServerResponse): void {
    const connection = this.#open.get(request.socket);
    if (connection === undefined) return;
    const { pending } = connection;
    connection.latest = request;
    pending.push(response);
    response.on('close', () => pending.splice(pending.indexOf(response), 1));
    if (this.#draining) closeAfter(pending);
  }

  #endStalled(): void {
    const { stallMs, stallCheckMs } = this.#patience;
    for (const [socket, connection] of this.#open) {
      const unwritten = unwrittenBytes(socket);
      const moved = unwritten === 0 || unwritten !== connection.unwritten;
      connection.unwritten = unwritten;
      connection.stalled = moved ? 0 : connection.stalled + 1;
      if (connection.stalled * stallCheckMs >= stallMs) endUnread(socket, 'stalled');
    }
  }

  /** @param closingMs How long the server has been closing. */
  #closeIdle(closingMs: number): void {
    for (const [socket, connection] of this.#open) {
      const { pending } = connection;
      const received = socket.bytesRead;
      connection.silent = received === connection.received ? connection.silent + 1 : 0;
      connection.received = received;
      const answering = pending.some(({ req }) => req.complete);
      const arriving = pending.length > 0 || connection.silent < CLOSING_SILENCE;
      if (answering || (arriving && closingMs < this.#patience.closingMs)) continue;
      socket.destroy();
    }
  }
}

/** Lets the connection close after the last of the requests that have arrived, and not before. */
function closeAfter(pending: readonly ServerResponse[]): void {
  for (const [index, response] of pending.entries()) {
    if (!response.headersSent) response.shouldKeepAlive = index < pending.length - 1;
  }
}

/**
 * Bytes that the kernel has not taken. Its part of a write is counted by the handle alone, which Node
 * does not document: `writableLength` falls only when a write is complete.
 */
function unwrittenBytes(socket: Socket): number {
  const { _handle } = socket as { _handle?: { writeQueueSize?: unknown } | null };
  const size = _handle?.writeQueueSize;
  return typeof size === 'number' ? size : socket.writableLength;
}
