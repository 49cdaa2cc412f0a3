import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { Counter } from 'prom-client';

/** The requests of a connection, and the progress of its reads and writes. */
export interface Connection {
  latest: IncomingMessage | undefined;
  /** Responses that are not completely written, in the order of their requests. */
  readonly pending: ServerResponse[];
  /** Bytes received by the latest check, and how many checks in a row found no new ones. */
  received: number;
  silent: number;
  /** Bytes waiting to be written at the latest check, and how many checks in a row found as many. */
  unwritten: number;
  stalled: number;
}

/** How long the server waits for a client before it closes the connection, in milliseconds. */
interface Patience {
  /** For a write to make progress. */
  readonly stallMs: number;
  /** How often that is checked. */
  readonly stallCheckMs: number;
  /** For waiting connections to be accepted once the server closes. */
  readonly acceptMs: number;
  /** For a request to finish arriving once the server closes; from the same moment. */
  readonly closingMs: number;
}

export const PATIENCE: Patience = {
  stallMs: 10_000,
  stallCheckMs: 1_000,
  acceptMs: 2_000,
  closingMs: 5_000,
};

/** How often connections are checked while the server closes, in milliseconds. */
const CLOSING_CHECK_MS = 100;
/** Checks without a new byte after which a connection without a request is closed. */
const CLOSING_SILENCE = 2;

const ended = new Counter({
  name: 'eps_http_connections_ended_total',
  help: 'Connections ended because of responses their client did not read: a write that made no progress (stalled), or too much that waited for one client (unread)',
  labelNames: ['reason'],
});

/** Resets a connection whose client does not read, and frees what waits to be written, also in the kernel. */
export function endUnread(socket: Socket, reason: 'stalled' | 'unread'): void {
  if (socket.destroyed) return;
  ended.inc({ reason });
  socket.resetAndDestroy();
}

/** The open connections of a server, with the requests of each. */
export class Connections {
  readonly #open = new Map<Socket, Connection>();
  readonly #patience: Patience;
  #accepted = 0;
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
    // Node calls this when a server closes. Its own version ends connections whose response is still being written.
    server.closeIdleConnections = () => undefined;
    this.#stallCheck = setInterval(() => this.#endStalled(), this.#patience.stallCheckMs).unref();
  }

  /** From now on, responses announce that their connection closes. */
  drain(): void {
    this.#draining = true;
    for (const { pending } of this.#open.values()) closeAfter(pending);
  }

  /**
   * Lets a server close in bounded time: accepts the connections that have arrived, completes responses, and closes
   * connections without one. Also times out requests that are still arriving, because Node stops enforcing its
   * timeouts once a server closes. Resolves when the port can close.
   */
  async close(): Promise<void> {
    const began = performance.now();
    const closingMs = () => performance.now() - began;
    await this.#acceptWaiting(closingMs);
    this.#closingCheck = setInterval(() => this.#closeIdle(closingMs()), CLOSING_CHECK_MS);
  }

  /** Stops the checks, once every connection is closed. */
  stop(): void {
    clearInterval(this.#stallCheck);
    clearInterval(this.#closingCheck);
  }

  /**
   * Resolves once no connection waits to be accepted, or time is up. Node accepts one per turn of its event loop, so
   * a busy server falls behind, and closing its port would reset those still waiting.
   */
  async #acceptWaiting(closingMs: () => number): Promise<void> {
    // The current turn may already be past accepting; the next is a whole one.
    await nextTurn();
    let before: number;
    do {
      before = this.#accepted;
      await nextTurn();
    } while (this.#accepted > before && closingMs() < this.#patience.acceptMs);
  }

  #begin(socket: Socket): void {
    this.#accepted += 1;
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
      const isResponding = pending.some(({ req }) => req.complete);
      const arriving = pending.length > 0 || connection.silent < CLOSING_SILENCE;
      if (isResponding || (arriving && closingMs < this.#patience.closingMs)) continue;
      socket.destroy();
    }
  }
}

/** Closes a connection after the response to the latest request that has arrived, and not before. */
function closeAfter(pending: readonly ServerResponse[]): void {
  for (const [index, response] of pending.entries()) {
    if (!response.headersSent) response.shouldKeepAlive = index < pending.length - 1;
  }
}

/**
 * Bytes that the kernel has not taken. `writableLength` falls only when a write is complete; the handle, which
 * Node does not document, also counts what is left of a write in progress.
 */
function unwrittenBytes(socket: Socket): number {
  const { _handle } = socket as { _handle?: { writeQueueSize?: unknown } | null };
  const size = _handle?.writeQueueSize;
  return typeof size === 'number' ? size : socket.writableLength;
}
