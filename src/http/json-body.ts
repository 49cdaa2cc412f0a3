import type { FastifyInstance, FastifyRequest } from 'fastify';
import { parse as parseSecurely } from 'secure-json-parse';
import { ApiError } from '#errors/api-error.ts';
import { reviverFor } from './written-numbers.ts';

const JSON_TYPE = /^application\/json\s*(;|$)/i;
const decoder = new TextDecoder('utf-8', { fatal: true });

/**
 * Parses bodies from the bytes that authentication verified, on every route with a body schema.
 * Fastify's own parsers are removed, so that nothing is parsed before the signature is verified.
 */
export function registerJsonBody(app: FastifyInstance): void {
  app.removeAllContentTypeParsers();
  app.addContentTypeParser('*', (_request, _payload, done) => done(null, undefined));
  app.addHook('preValidation', (request, _reply, done) => {
    if (request.routeOptions.schema?.body !== undefined) request.body = parseBody(request);
    done();
  });
}

/**
 * Parses a body as JSON. A number that has more decimals than its double becomes NaN.
 * @throws ApiError E1000
 */
export function parseBody({
  headers,
  rawBody,
}: Pick<FastifyRequest, 'headers' | 'rawBody'>): unknown {
  if (!JSON_TYPE.test(headers['content-type'] ?? '')) {
    throw new ApiError('E1000', 'Send the body with Content-Type: application/json.');
  }
  if (!/^(identity)?$/i.test(headers['content-encoding'] ?? '')) {
    throw new ApiError('E1000', 'Send the body without Content-Encoding.');
  }
  if (rawBody.length === 0) throw new ApiError('E1000', 'The body is empty.');
  try {
    const json = decoder.decode(rawBody);
    return parseSecurely(json, reviverFor(json), {
      protoAction: 'error',
      constructorAction: 'error',
    });
  } catch {
    throw new ApiError(
      'E1000',
      'The body is not readable JSON in UTF-8, or has a key that is not allowed.',
    );
  }
}
