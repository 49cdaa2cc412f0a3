import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { RateLimits } from '../../http/rate-limit.ts';
import { canonicalAuthority } from '../../http/request-target.ts';

declare module 'fastify' {
  interface FastifyContextConfig {
    /** Whether a route is served on the panel's own host too. */
    onEveryHost?: boolean;
  }
  interface FastifyRequest {
    /** Whether the panel was asked for on a host that is not its own. */
    isPanelElsewhere: boolean;
  }
}

/**
 * Answers a request for what its host does not serve.
 * @param failure Why it is refused in any case; undefined for no other reason.
 */
type ResponseApart = (request: FastifyRequest, reply: FastifyReply, failure?: unknown) => void;

/** Whether requests are for the host that the panel is at. On loopback every name and port will do. */
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

interface PanelSeparation {
  readonly panelUrl: string;
  readonly publicUrl: string;
  /** Prefix that the panel is registered with. */
  readonly prefix: string;
  readonly limits: RateLimits;
  /** Answers on the panel's own host what that host does not serve. */
  readonly answerOnPanelHost: ResponseApart;
  /** Answers on every other host what belongs to the panel. */
  readonly answerElsewhere: ResponseApart;
}

/**
 * Keeps a panel with a host of its own apart from the rest of the service: it answers on no other host,
 * and its host serves nothing else (OWASP ASVS 5.0, 3.5.4). What belongs to the panel is what the router
 * found in its scope: the same path can be spelt in many ways.
 */
export function separatePanel(app: FastifyInstance, options: PanelSeparation): void {
  const { panelUrl, publicUrl, prefix, limits, answerOnPanelHost, answerElsewhere } = options;
  const isPanelHost = createPanelHosts(panelUrl);
  const { host: publicHost } = new URL(publicUrl);
  const isOwnHost = new URL(panelUrl).host !== publicHost;
  /** Never fails through the error handler of the route, which is that of the part left out here. */
  const answer = (answerApart: ResponseApart, request: FastifyRequest, reply: FastifyReply) =>
    void limits.countPage(request).then(
      () => answerApart(request, reply),
      failure => answerApart(request, reply, failure),
    );
  app.decorateRequest('isPanelElsewhere', false);
  app.addHook('onRequest', (request, reply, done) => {
    if (request.server.prefix === prefix) {
      if (isPanelHost(request)) return done();
      request.isPanelElsewhere = true;
      return answer(answerElsewhere, request, reply);
    }
    // Nearly every request is for the public host as it is written.
    if (!isOwnHost || request.host === publicHost || !isPanelHost(request)) return done();
    if (request.routeOptions.config.onEveryHost === true) return done();
    answer(answerOnPanelHost, request, reply);
  });
}

function isLoopback(hostname: string): boolean {
  return ['127.0.0.1', 'localhost', '[::1]', '::1'].includes(hostname);
}
