import type { FastifyInstance, FastifyReply } from 'fastify';
import { type PagePolicy, pageHeaders, transportHeaders } from '#http/security-headers.ts';
import { basePathOf } from '../../pages/base-path.ts';
import { logRefusal } from '../hooks/log-fields.ts';
import { frameOf, type PageSettings, type PanelPage, renderPage } from './document.ts';
import { type Notice, readNotice, writeNotice } from './notice.ts';

declare module 'fastify' {
  interface FastifyContextConfig {
    /** The Content Security Policy of a route that needs another one than the rest of the panel. */
    policy?: PagePolicy;
  }
  interface FastifyRequest {
    /** The path that a proxy serves the panel under; empty at the root. Only requests of the panel have it. */
    basePath: string;
  }
}

/** A redirect after a change. */
interface Redirect {
  /** A path without the base path. */
  readonly onward: string;
  /** What the page there says of the change. */
  readonly notice?: Notice;
}

/** What a handler of the panel returns. */
export type PageOrRedirect = PanelPage | Redirect;

/** What every page may load, and where it may send to. */
const ALLOWED = [
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self'",
  "connect-src 'self'",
  "form-action 'self'",
];

/** Policy of a page that shows another one of the panel in a frame. */
export const WITH_FRAME = pageHeaders(...ALLOWED, "frame-src 'self'");

/** Headers of every response of the panel. */
export function panelHeaders(panelUrl: string): Record<string, string> {
  return {
    ...pageHeaders(...ALLOWED),
    'cross-origin-opener-policy': 'same-origin',
    'cross-origin-resource-policy': 'same-origin',
    'permissions-policy': 'clipboard-write=(self)',
    // With no-referrer, as the checkout has it, Chromium sends our own forms with `Origin: null`.
    'referrer-policy': 'same-origin',
    'x-robots-tag': 'noindex',
    ...transportHeaders(panelUrl),
  };
}

/** Sends the pages and redirects that the handlers of `app` return, and with them a session's new token. */
export function registerPages(app: FastifyInstance, settings: PageSettings): void {
  app.decorateRequest('basePath', basePathOf(settings.panelUrl));
  app.addHook<PageOrRedirect>('preSerialization', async (request, reply, shown) => {
    if (request.isPanelOnOtherHost) return shown;
    const { newToken } = request.visit ?? {};
    if (newToken !== undefined) settings.cookies.setSession(reply, newToken);
    return renderPageOrRedirect(shown, reply, settings);
  });
}

/**
 * Prepares a reply for a page, with the navigation of the person who requested it, or for a redirect.
 * @returns The body.
 */
export function renderPageOrRedirect(
  shown: PageOrRedirect,
  reply: FastifyReply,
  settings: PageSettings,
): string {
  const basePath = basePathOf(settings.panelUrl);
  reply.serializer(String);
  if ('onward' in shown) {
    if (shown.notice !== undefined) settings.cookies.setNotice(reply, writeNotice(shown.notice));
    reply
      .status(303)
      .header('location', basePath + shown.onward)
      .removeHeader('content-type');
    return '';
  }
  const { fault, status = fault ? 422 : 200 } = shown;
  if (fault) logRefusal(reply.request, 'form', fault.field);
  const notice = readNotice(settings.cookies.readNotice(reply.request));
  if (notice !== undefined) settings.cookies.clearNotice(reply);
  reply.status(status).header('content-type', 'text/html; charset=utf-8');
  return renderPage(shown, frameOf(reply.request, notice, settings));
}

/**
 * Redirects, after a change so that reloading does not repeat it.
 * @param notice What the page there says of the change.
 */
export function redirectTo(path: string, notice?: Notice | string): Redirect {
  if (notice === undefined) return { onward: path };
  return { onward: path, notice: typeof notice === 'string' ? { text: notice } : notice };
}
