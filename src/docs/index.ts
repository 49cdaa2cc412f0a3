import type { FastifyInstance, FastifyRequest } from 'fastify';
import { ApiError } from '../errors/api-error.ts';
import type { RateLimits } from '../http/rate-limit.ts';
import { pageHeaders } from '../http/security-headers.ts';
import { DOCS_ASSETS, DOCS_PREFIX } from './assets.ts';
import { readClientPackage } from './client-package/package-file.ts';
import { registerClientPackage } from './client-package/serve.ts';
import type { DocsSettings } from './facts.ts';
import type { OpenApiDocument } from './openapi/document.ts';
import { renderDocs } from './render-docs.ts';

interface DocsDependencies {
  readonly settings: Omit<DocsSettings, 'client'>;
  readonly limits: RateLimits;
  /** Writes the OpenAPI document, once every route is registered. */
  readonly writeOpenApi: () => OpenApiDocument;
}

const CACHED = { 'cache-control': 'public, max-age=3600' };
const SECURITY = pageHeaders(
  "style-src 'self'",
  "img-src 'self'",
  "script-src 'self'",
  "connect-src 'self'",
  "form-action 'none'",
);
const HTML = 'text/html; charset=utf-8';

/**
 * The documentation: guides, reference and error pages as HTML and Markdown, /openapi.json, the start
 * page for browsers, and the client. All of it is rendered once, when the application is ready.
 */
export function registerDocs(app: FastifyInstance, deps: DocsDependencies): void {
  const client = readClientPackage();
  let docs: ReturnType<typeof renderDocs>;
  app.addHook('onReady', async () => {
    docs = renderDocs({ ...deps.settings, client }, deps.writeOpenApi());
  });

  // Not counted: browsers keep them for good, and a page without its style sheet would help nobody.
  app.register(async assets => DOCS_ASSETS.register(assets), { prefix: DOCS_PREFIX });
  app.register(async pages => {
    pages.addHook('onRequest', async request => deps.limits.countPage(request));
    registerClientPackage(pages, client);
    for (const path of [DOCS_PREFIX, `${DOCS_PREFIX}/*`, '/llms.txt', '/openapi.json']) {
      pages.get(path, (request, reply) => {
        const [asked = ''] = request.url.split('?');
        const found = docs.texts.get(asked === `${DOCS_PREFIX}/` ? DOCS_PREFIX : asked);
        if (found !== undefined) {
          reply.type(found.type).headers({ ...SECURITY, ...CACHED });
          if (found.gzipped === undefined) return reply.send(found.text);
          reply.header('vary', 'accept-encoding');
          if (!takesGzip(request)) return reply.send(found.text);
          return reply.header('content-encoding', 'gzip').send(found.gzipped);
        }
        const missing = new ApiError('E3001', 'There is no such page.');
        if (!wantsHtml(request)) throw missing;
        request.errorCode = missing.errorCode;
        return reply.status(404).type(HTML).headers(SECURITY).send(docs.missing);
      });
    }
    pages.get('/', (request, reply) => {
      if (!wantsHtml(request)) throw new ApiError('E3001', 'There is no GET on this path.');
      return reply
        .type(HTML)
        .headers({ ...SECURITY, ...CACHED, vary: 'accept' })
        .send(docs.start);
    });
  });
}

function takesGzip({ headers }: FastifyRequest): boolean {
  return /\bgzip\b(?!\s*;\s*q=0(?:\.0*)?(?:,|$))/.test(String(headers['accept-encoding'] ?? ''));
}

/** Whether the request is a browser's, which names HTML before it takes anything. */
function wantsHtml({ headers }: FastifyRequest): boolean {
  return headers.accept?.includes('text/html') === true;
}
