import type { FastifyInstance } from 'fastify';
import { ApiError } from '#errors/api-error.ts';
import { sendDownload } from '../downloads/serve-download.ts';
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
    const filename = `${CLIENT_NAME}-${client.version}.tgz`;
    return sendDownload(request, reply, { ...client, type: 'application/gzip', filename });
  });
}
