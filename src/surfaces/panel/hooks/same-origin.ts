import type { FastifyRequest } from 'fastify';
import { PanelRefusal } from './refusal.ts';

/**
 * Refuses a form that another site has sent: by `Sec-Fetch-Site` or, from older browsers, by `Origin`. A request with
 * neither is refused too, since a browser that sends neither cannot protect the cookie.
 * @param panelUrl Base URL of the panel. With http, on loopback, the host may have other names.
 * @throws PanelRefusal
 */
export function requireSameOrigin(request: FastifyRequest, panelUrl: string): void {
  const { 'sec-fetch-site': site, origin } = request.headers;
  const panel = new URL(panelUrl);
  const own = panel.protocol === 'http:' ? `http://${request.host}` : panel.origin;
  const isOwn = site === undefined ? origin === own : site === 'same-origin';
  if (!isOwn) throw new PanelRefusal({ kind: 'foreign-origin' });
}

/**
 * Refuses a download that a link on another site leads to, so that no other site can cause an entry in the audit log.
 * @throws PanelRefusal
 */
export function requireOwnPage({ headers }: FastifyRequest): void {
  if (headers['sec-fetch-site'] !== 'same-origin') {
    throw new PanelRefusal({ kind: 'foreign-origin' });
  }
}
