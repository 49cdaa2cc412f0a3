import type { FastifyReply, FastifyRequest } from 'fastify';
import { pageHeaders } from '#http/security-headers.ts';
import type { DocsSettings } from './facts.ts';
import { missingPage } from './pages.ts';
import { HTML, renderAlone } from './render-docs.ts';

/** Headers of every page of the documentation. */
export const DOCS_HEADERS = pageHeaders(
  "style-src 'self'",
  "img-src 'self'",
  "script-src 'self'",
  "connect-src 'self'",
  "form-action 'none'",
);

/** Sends browsers the page for an address that has none. */
export type SendMissing = (request: FastifyRequest, reply: FastifyReply) => FastifyReply;

export function createMissingPage(
  settings: Pick<DocsSettings, 'publicUrl' | 'simulation'>,
): SendMissing {
  const page = renderAlone(missingPage(), settings);
  return (request, reply) => {
    request.errorCode = 'E3001';
    return reply.status(404).type(HTML).headers(DOCS_HEADERS).serializer(String).send(page);
  };
}
