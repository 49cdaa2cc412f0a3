import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { ApiError } from '#errors/api-error.ts';
import { sendError } from '#errors/handler.ts';
import type { RateLimits } from '#http/rate-limit.ts';
import { canonicalAuthority } from '#http/request-target.ts';
import { wantsHtml } from '#http/wants-html.ts';
import { PANEL_PREFIX } from './kit/assets.ts';
import { explainFailure, type PanelFailureOptions } from './kit/failures.ts';
import { panelHeaders, redirectTo, renderPageOrRedirect } from './kit/pages.ts';

declare module 'fastify' {
  interface FastifyContextConfig {
    /** Whether a route is served on the panel's own host too. */
    onEveryHost?: boolean;
  }
  interface FastifyRequest {
    /** Whether the panel was requested on a host that is not its own. */
    isPanelOnOtherHost: boolean;
  }
}

interface OwnHostOptions extends PanelFailureOptions {
  readonly limits: RateLimits;
  /** Sends browsers the documentation's page for an address that has none. */
  readonly sendMissing: (request: FastifyRequest, reply: FastifyReply) => FastifyReply;
}

/**
 * Responds to a request for what its host does not serve.
 * @param failure Why the request is refused on any host; undefined if it is not.
 */
type SendInstead = (
  request: FastifyRequest,
  reply: FastifyReply,
  failure?: unknown,
) => FastifyReply;

/**
 * Keeps a panel with a host of its own apart from the rest of the service: it is served on no other host, and its
 * host serves nothing else (OWASP ASVS 5.0, 3.5.4) but redirects from `/` to the panel. A request is for the panel if
 * the router found it in the panel's scope: the same path can be spelt in many ways.
 */
export function keepPanelOnOwnHost(app: FastifyInstance, options: OwnHostOptions): void {
  const { panelUrl, publicUrl, limits, sendMissing } = options;
  const isPanelHost = createPanelHosts(panelUrl);
  const { host: publicHost } = new URL(publicUrl);
  const isOwnHost = new URL(panelUrl).host !== publicHost;
  const missing = () => new ApiError('E3001', 'There is nothing at this path of this host.');

  const sendOnPanelHost: SendInstead = (request, reply, failure) => {
    const isRoot = failure === undefined && request.routeOptions.url === '/';
    if (isRoot) return reply.send(renderPageOrRedirect(redirectTo(PANEL_PREFIX), reply, options));
    const error = failure ?? missing();
    if (!wantsHtml(request)) return sendError(error, request, reply, options);
    const shown = explainFailure(error, request, reply.headers(panelHeaders(panelUrl)), options);
    return reply.send(renderPageOrRedirect(shown, reply, options));
  };

  const sendElsewhere: SendInstead = (request, reply, failure) =>
    failure === undefined && wantsHtml(request)
      ? sendMissing(request, reply)
      : sendError(failure ?? missing(), request, reply, options);

  /** Never throws: the error would reach the route's own handler, which belongs to the other part of the service. */
  function count(request: FastifyRequest, reply: FastifyReply, send: SendInstead): void {
    limits.countPage(request).then(
      () => send(request, reply),
      failure => send(request, reply, failure),
    );
  }

  app.decorateRequest('isPanelOnOtherHost', false);
  app.addHook('onRequest', (request, reply, done) => {
    const { prefix } = request.server;
    if (prefix === PANEL_PREFIX || prefix.startsWith(`${PANEL_PREFIX}/`)) {
      if (isPanelHost(request)) return done();
      request.isPanelOnOtherHost = true;
      return count(request, reply, sendElsewhere);
    }
    // Fast path: nearly every request names the public host exactly as it is configured.
    if (!isOwnHost || request.host === publicHost || !isPanelHost(request)) return done();
    if (request.routeOptions.config.onEveryHost === true) return done();
    count(request, reply, sendOnPanelHost);
  });
}

/** Whether requests are for the panel's host. On loopback, any of its names and any port match. */
function createPanelHosts(panelUrl: string): (request: FastifyRequest) => boolean {
  const { host, hostname, protocol } = new URL(panelUrl);
  const scheme = protocol.slice(0, -1);
  const isLocal = scheme === 'http' && isLoopback(hostname);
  const own = canonicalAuthority(scheme, host);
  return request =>
    request.host === own ||
    canonicalAuthority(scheme, request.host) === own ||
    (isLocal && isLoopback(request.hostname));
}

function isLoopback(hostname: string): boolean {
  return ['127.0.0.1', 'localhost', '[::1]', '::1'].includes(hostname);
}
