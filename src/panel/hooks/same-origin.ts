import type { FastifyRequest } from 'fastify';
import { PanelRefusal } from './refusal.ts';

/**
 * Refuses a form that another site has sent. Browsers tell the relation of the sites; older ones tell the
 * origin; a request that tells neither was made by no browser that could carry somebody's cookie safely.
 * @param panelUrl Where the panel is; at plain http, on loopback, it has several names.
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
 * Refuses a file that another site leads to: a person gets it, and has it written to the audit log, only by
 * a link of our own pages.
 * @throws PanelRefusal
 */
export function requireOwnPage({ headers }: FastifyRequest): void {
  if (headers['sec-fetch-site'] !== 'same-origin') {
    throw new PanelRefusal({ kind: 'foreign-origin' });
  }
}
