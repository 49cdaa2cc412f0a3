import type { ServerResponse } from 'node:http';
import type { FastifyInstance } from 'fastify';
import { clientNetwork } from './client-address.ts';
import { endUnread } from './connections.ts';

/**
 * Most response bytes that may wait for one client to read them: nearly thirty of the largest lists. Above that, the
 * connections that have waited longest are reset, so that one client cannot fill the memory.
 */
export const UNREAD_BYTES_MAX = 8 * 1024 * 1024;
/** Smaller responses are not counted: a socket's buffer takes them at once. */
const COUNTED_BYTES = 16 * 1024;

/** Responses that a client has not read, with their sizes in bytes, the oldest first. */
interface Unread {
  readonly responses: Map<ServerResponse, number>;
  bytes: number;
}

/**
 * Limits the unread response bytes of each client: of a key or, without a verified key, of an address.
 * @param maximum Bytes.
 */
export function limitUnreadResponses(app: FastifyInstance, maximum = UNREAD_BYTES_MAX): void {
  const clients = new Map<string, Unread>();

  function add(client: string, response: ServerResponse, size: number): void {
    const unread = clients.get(client) ?? { responses: new Map(), bytes: 0 };
    clients.set(client, unread);
    unread.responses.set(response, size);
    unread.bytes += size;
    response.once('close', () => {
      unread.responses.delete(response);
      unread.bytes -= size;
      if (unread.responses.size === 0) clients.delete(client);
    });
    // Deferred, so that responses which the kernel takes at once no longer count.
    if (unread.bytes > maximum) setImmediate(endOldest, unread);
  }

  function endOldest({ responses, bytes }: Unread): void {
    let excess = bytes - maximum;
    for (const [{ req }, size] of responses) {
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
