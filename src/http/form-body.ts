import type { FastifyInstance, FastifyRequest } from 'fastify';
import { ApiError } from '#errors/api-error.ts';
import { parseQueryString } from './query-string.ts';
import { readRawBody } from './raw-body.ts';

/**
 * Parses form bodies into plain objects, like queries: a repeated field is a list. Refuses all other bodies.
 * @param limitBytes Size of the largest body.
 */
export function registerFormBody(app: FastifyInstance, limitBytes: number): void {
  app.removeAllContentTypeParsers();
  app.addContentTypeParser('application/x-www-form-urlencoded', async (request: FastifyRequest) => {
    const body = await readRawBody(request.raw, limitBytes);
    return parseQueryString(body.toString());
  });
  app.addContentTypeParser('*', async () => {
    throw new ApiError('E1000', 'Send a form as application/x-www-form-urlencoded.');
  });
}
