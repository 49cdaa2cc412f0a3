import { createHash } from 'node:crypto';
import type { FastifyReply, FastifyRequest } from 'fastify';

/** A file that the service offers, as it is sent. */
export interface Download {
  readonly type: string;
  /** Name that it is saved under; a browser shows a file that has none. */
  readonly filename?: string;
  readonly bytes: Buffer;
  /** As npm writes it to a lock file: `sha512-` and base64 (Subresource Integrity). */
  readonly integrity: string;
}

export function integrityOf(bytes: Buffer): string {
  return `sha512-${createHash('sha512').update(bytes).digest('base64')}`;
}

/** Sends a file, or 304 if the caller has it already. */
export function sendDownload(
  request: FastifyRequest,
  reply: FastifyReply,
  { type, filename, bytes, integrity }: Download,
): FastifyReply {
  const etag = `"${integrity}"`;
  // Revalidated each time, so that no cache serves other bytes than those whose integrity is shown.
  reply.headers({ etag, 'cache-control': 'public, no-cache' });
  if (request.headers['if-none-match'] === etag) return reply.status(304).send();
  if (filename !== undefined) {
    reply.header('content-disposition', `attachment; filename="${filename}"`);
  }
  return reply.type(type).send(bytes);
}
