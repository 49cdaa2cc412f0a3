import type { IncomingMessage } from 'node:http';
import { ApiError } from '#errors/api-error.ts';

/** Largest request body, in bytes; the largest valid one is far smaller. */
export const BODY_LIMIT_BYTES = 64 * 1024;

/** A body is larger than its route takes. It was not kept. */
export class BodyTooLarge extends ApiError {
  constructor(limitBytes: number) {
    super('E1000', `The body is larger than ${limitBytes} bytes.`);
  }
}

const NO_BODY = Buffer.alloc(0);

/** Whether the request's headers announce a body. */
export function announcesBody({ headers }: IncomingMessage): boolean {
  return headers['transfer-encoding'] !== undefined || Number(headers['content-length']) > 0;
}

/**
 * Reads a body to its end, keeping at most `limit` bytes. The rest is read and discarded, so that the
 * client receives its response instead of a reset connection. The request timeout bounds how long that
 * takes.
 * @throws BodyTooLarge above the limit; ApiError E1000 when the client goes away before the end.
 */
export function readRawBody(
  request: IncomingMessage,
  limit = BODY_LIMIT_BYTES,
): Promise<Buffer> | Buffer {
  return announcesBody(request) ? readToEnd(request, limit) : NO_BODY;
}

/** Reads by events, since an async iterator of the request costs several microseconds more. */
function readToEnd(request: IncomingMessage, limit: number): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let size = 0;
  return new Promise((resolve, reject) => {
    const fail = (cause?: Error) =>
      reject(new ApiError('E1000', 'The body ended before it was complete.', { cause }));
    // A request that is already destroyed emits nothing more.
    if (request.destroyed) return fail(request.errored ?? undefined);
    request.on('data', (chunk: Buffer) => {
      size += chunk.length;
      if (size <= limit) chunks.push(chunk);
      else chunks.length = 0;
    });
    request.on('end', () => {
      if (size > limit) reject(new BodyTooLarge(limit));
      else resolve(chunks.length === 1 && chunks[0] ? chunks[0] : Buffer.concat(chunks, size));
    });
    request.on('error', fail);
    request.on('close', () => {
      if (!request.readableEnded) fail();
    });
  });
}
