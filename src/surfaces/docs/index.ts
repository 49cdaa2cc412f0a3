import type { FastifyInstance, FastifyRequest } from 'fastify';
import { ApiError } from '#errors/api-error.ts';
import type { RateLimits } from '#http/rate-limit.ts';
import { pathOf } from '#http/request-target.ts';
import { wantsHtml } from '#http/wants-html.ts';
import { DOCS_ASSETS, DOCS_PREFIX } from './assets.ts';
import { readClientPackage } from './client-package/package-file.ts';
import { registerClientPackage } from './client-package/serve.ts';
import { registerDownloads } from './downloads/index.ts';
import type { DocsSettings } from './facts.ts';
import { DOCS_HEADERS, type SendMissing } from './missing.ts';
import type { OpenApiDocument } from './openapi/document.ts';
import { POSTMAN_PATH } from './postman.ts';
import { HTML, renderDocs } from './render-docs.ts';

interface DocsDependencies {
  readonly settings: Omit<DocsSettings, 'client'>;
  readonly limits: RateLimits;
  readonly sendMissing: SendMissing;
  /** Writes the OpenAPI document, once every route is registered. */
  readonly writeOpenApi: () => OpenApiDocument;
}

const CACHED = { 'cache-control': 'public, max-age=3600' };

/**
 * The documentation: guides, reference and error pages as HTML and Markdown, /openapi.json, the start
 * page for browsers, and the client with the libraries. Pages are rendered once, when the application is ready.
 */
export async function docsPlugin(app: FastifyInstance, deps: DocsDependencies): Promise<void> {
  const client = readClientPackage();
  let docs: ReturnType<typeof renderDocs>;
  app.addHook('onReady', async () => {
    docs = renderDocs({ ...deps.settings, client }, deps.writeOpenApi);
  });

  // Not counted against the limit: browsers cache them for good, and a page needs its style sheet.
  app.register(async assets => DOCS_ASSETS.register(assets), { prefix: DOCS_PREFIX });
  app.register(async pages => {
    pages.addHook('onRequest', async request => deps.limits.countPage(request));
    registerClientPackage(pages, client);
    registerDownloads(pages);
    for (const path of [
      DOCS_PREFIX,
      `${DOCS_PREFIX}.md`,
      `${DOCS_PREFIX}/*`,
      '/llms.txt',
      '/openapi.json',
      POSTMAN_PATH,
    ]) {
      pages.get(path, (request, reply) => {
        const asked = pathOf(request.url);
        const found = docs.texts.get(asked === `${DOCS_PREFIX}/` ? DOCS_PREFIX : asked);
        if (found !== undefined) {
          reply.type(found.type).headers({ ...DOCS_HEADERS, ...CACHED });
          if (found.gzipped === undefined) return reply.send(found.text);
          reply.header('vary', 'accept-encoding');
          if (!takesGzip(request)) return reply.send(found.text);
          return reply.header('content-encoding', 'gzip').send(found.gzipped);
        }
        if (wantsHtml(request)) return deps.sendMissing(request, reply);
        throw new ApiError('E3001', 'There is no such page.');
      });
    }
    pages.get('/', (request, reply) => {
      if (!wantsHtml(request)) throw new ApiError('E3001', 'There is no GET on this path.');
      return reply
        .type(HTML)
        .headers({ ...DOCS_HEADERS, ...CACHED, vary: 'accept' })
        .send(docs.start);
    });
  });
}

function takesGzip({ headers }: FastifyRequest): boolean {
  return /\bgzip\b(?!\s*;\s*q=0(?:\.0*)?(?:,|$))/.test(String(headers['accept-encoding'] ?? ''));
}
