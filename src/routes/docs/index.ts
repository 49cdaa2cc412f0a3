import { readFileSync } from 'node:fs';
import type { FastifyInstance, FastifyReply } from 'fastify';
import { ApiError } from '../../errors/api-error.ts';
import { ERRORS, type ErrorCode } from '../../errors/catalogue.ts';
import type { RateLimits } from '../../plugins/rate-limit.ts';
import type { OpenApiDocument } from '../openapi/document.ts';
import { renderErrorIndex, renderErrorPage } from './error-pages.ts';

interface DocsDependencies {
  /** Writes the OpenAPI document, once every route is registered. */
  readonly writeOpenApi: () => OpenApiDocument;
  readonly limits: RateLimits;
}

const STYLESHEET = readFileSync(new URL('./style.css', import.meta.url));
const CACHE = 'public, max-age=3600';
const POLICY =
  "default-src 'none'; style-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

/** The pages that `docUrl` leads to: one for each error of the catalogue, and their list. */
export function registerDocs(
  app: FastifyInstance,
  { limits, writeOpenApi }: DocsDependencies,
): void {
  app.addHook('onRequest', async request => limits.countAddress(request));

  app.get('/openapi.json', (_request, reply) =>
    reply.header('cache-control', CACHE).send(writeOpenApi()),
  );

  app.get('/docs/style.css', (_request, reply) =>
    reply.type('text/css; charset=utf-8').header('cache-control', CACHE).send(STYLESHEET),
  );
  app.get('/docs/errors', (_request, reply) => sendPage(reply, renderErrorIndex()));
  app.get<{ Params: { code: string } }>('/docs/errors/:code', (request, reply) => {
    const { code } = request.params;
    if (!isErrorCode(code)) throw new ApiError('E3001', 'There is no such error code.');
    return sendPage(reply, renderErrorPage(code));
  });
}

function isErrorCode(code: string): code is ErrorCode {
  return Object.hasOwn(ERRORS, code);
}

function sendPage(reply: FastifyReply, html: string): FastifyReply {
  return reply
    .type('text/html; charset=utf-8')
    .header('cache-control', CACHE)
    .header('content-security-policy', POLICY)
    .send(html);
}
