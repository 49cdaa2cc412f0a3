import type { FastifyInstance, FastifyRequest } from 'fastify';
import { ApiError } from '../errors/api-error.ts';

/** What a panel with a host of its own serves beside itself. */
const ON_EVERY_HOST = ['/healthz', '/readyz'];

/** Whether requests are for the host that the panel is at. On loopback every name and port will do. */
export function createPanelHosts(panelUrl: string): (request: FastifyRequest) => boolean {
  const { host, hostname, protocol } = new URL(panelUrl);
  const isLocal = protocol === 'http:' && isLoopback(hostname);
  return request => request.host === host || (isLocal && isLoopback(request.hostname));
}

/**
 * Keeps a panel with a host of its own apart from the rest of the service: it answers on no other host,
 * and its host serves nothing else (OWASP ASVS 5.0, 3.5.4).
 */
export function separatePanel(
  app: FastifyInstance,
  { panelUrl, publicUrl, prefix }: { panelUrl: string; publicUrl: string; prefix: string },
): void {
  const isPanelHost = createPanelHosts(panelUrl);
  const isOwnHost = new URL(panelUrl).host !== new URL(publicUrl).host;
  app.addHook('onRequest', (request, _reply, done) => {
    const path = request.url.split('?', 1)[0] ?? '';
    const isPanel = path === prefix || path.startsWith(`${prefix}/`);
    const isElsewhere = isPanel
      ? !isPanelHost(request)
      : isOwnHost && isPanelHost(request) && !ON_EVERY_HOST.includes(path);
    done(isElsewhere ? new ApiError('E3001') : undefined);
  });
}

function isLoopback(hostname: string): boolean {
  return ['127.0.0.1', 'localhost', '[::1]', '::1'].includes(hostname);
}
