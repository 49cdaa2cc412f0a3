import type { FastifyInstance } from 'fastify';
import { ApiError } from '../errors/api-error.ts';
import type { RateLimits } from '../http/rate-limit.ts';
import { pageHeaders } from '../http/security-headers.ts';
import { DOCS_ASSETS, DOCS_PREFIX } from './assets.ts';
import type { GuideContext } from './guides/guide.ts';
import type { OpenApiDocument } from './openapi/document.ts';
import { renderDocs, type StaticText } from './pages.ts';

interface DocsDependencies {
  readonly context: GuideContext;
  readonly limits: RateLimits;
  /** Writes the OpenAPI document, once every route is registered. */
  readonly writeOpenApi: () => OpenApiDocument;
}

const HEADERS = {
  'cache-control': 'public, max-age=3600',
  ...pageHeaders("style-src 'self'", "img-src 'self'", "form-action 'none'"),
};

/**
 * The documentation, written from the schemas and constants that the service runs on: guides, the
 * reference, the pages that `docUrl` leads to, all of them as Markdown too, and /openapi.json.
 */
export function registerDocs(app: FastifyInstance, deps: DocsDependencies): void {
  let texts: ReadonlyMap<string, StaticText> = new Map();
  app.addHook('onReady', async () => {
    texts = renderDocs(deps.context, deps.writeOpenApi());
  });

  // Not counted: browsers keep them for good, and a page without its looks would help nobody.
  app.register(async assets => DOCS_ASSETS.register(assets), { prefix: DOCS_PREFIX });
  app.register(async pages => {
    pages.addHook('onRequest', async request => deps.limits.countPage(request));
    for (const path of ['/docs', '/docs/*', '/llms.txt', '/openapi.json']) {
      pages.get(path, (request, reply) => {
        const [asked = ''] = request.url.split('?');
        const found = texts.get(asked === '/docs/' ? '/docs' : asked);
        if (found === undefined) throw new ApiError('E3001', 'There is no such page.');
        return reply.type(found.type).headers(HEADERS).send(found.text);
      });
    }
  });
}
