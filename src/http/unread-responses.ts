import type { ServerResponse } from 'node:http';
import type { FastifyInstance } from 'fastify';
import { clientNetwork } from './client-address.ts';
import { endUnread } from './connections.ts';

/**
 * Most bytes of answers that wait for one client to read them: nearly thirty of the largest lists. What
 * is beyond ends the connections that have waited longest, so that one client's cannot fill the memory.
 */
export const UNREAD_BYTES_MAX = 8 * 1024 * 1024;
/** Smaller answers are not counted: a socket's buffer takes them at once. */
const COUNTED_BYTES = 16 * 1024;

/** Answers of a client that it has not read, with their sizes in bytes, the oldest first. */
interface Unread {
  readonly answers: Map<ServerResponse, number>;
  bytes: number;
}

/**
 * Bounds what waits to be read by one client: by a key, or by an address where no key was verified.
 * @param maximum Bytes.
 */
export function limitUnreadResponses(app: FastifyInstance, maximum = UNREAD_BYTES_MAX): void {
  const clients = new Map<string, Unread>();

  function add(client: string, response: ServerResponse, size: number): void {
    const unread = clients.get(client) ?? { answers: new Map(), bytes: 0 };
    clients.set(client, unread);
    unread.answers.set(response, size);
    unread.bytes += size;
    response.once('close', () => {
      unread.answers.delete(response);
      unread.bytes -= size;
      if (unread.answers.size === 0) clients.delete(client);
    });
    // By then the answers that the kernel has taken at once are gone.
    if (unread.bytes > maximum) setImmediate(endOldest, unread);
  }

  function endOldest({ answers, bytes }: Unread): void {
    let excess = bytes - maximum;
    for (const [{ req }, size] of answers) {
      if (excess <= 0) return;
      excess -= size;
      endUnread(req.socket, 'unread');
    }
  }

  app.addHook('onSend', (request, { raw }, payload, done) => {
    const size = sizeOf(payload);
    if (size >= COUNTED_BYTES && !raw.destroyed) {
      add(request.keyId ?? clientNetwork(request), raw, size);
    }
    done(null, payload);
  });
}

function sizeOf(payload: unknown): number {
  if (typeof payload === 'string') {
    return payload.length < COUNTED_BYTES ? payload.length : Buffer.byteLength(payload);
  }
  return Buffer.isBuffer(payload) ? payload.length : 0;
}
