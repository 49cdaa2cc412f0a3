import type { FastifyInstance } from 'fastify';
import { ApiError } from '../../errors/api-error.ts';
import { CLIENT_NAME, CLIENT_PATH, type ClientPackage } from './package-file.ts';

/** GET /client.tgz: the client, as `npm install` takes it. */
export function registerClientPackage(
  app: FastifyInstance,
  client: ClientPackage | undefined,
): void {
  app.get(CLIENT_PATH, (request, reply) => {
    if (client === undefined) {
      throw new ApiError('E3001', 'This service was started without its client package.');
    }
    const etag = `"${client.integrity}"`;
    // Revalidated each time, so that no cache serves other bytes than those whose integrity is shown.
    reply.headers({ etag, 'cache-control': 'public, no-cache' });
    if (request.headers['if-none-match'] === etag) return reply.status(304).send();
    return reply
      .type('application/gzip')
      .header('content-disposition', `attachment; filename="${CLIENT_NAME}-${client.version}.tgz"`)
      .send(client.bytes);
  });
}
