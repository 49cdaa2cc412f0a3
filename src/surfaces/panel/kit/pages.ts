import type { FastifyInstance, FastifyReply } from 'fastify';
import { pathOf } from '#http/request-target.ts';
import { type PagePolicy, pageHeaders, transportHeaders } from '#http/security-headers.ts';
import type { Membership } from '#storage/repositories/people/memberships.ts';
import { basePathOf } from '../../pages/base-path.ts';
import type { PanelCookies } from '../hooks/cookies.ts';
import { logRefusal } from '../hooks/log-fields.ts';
import { texts } from '../texts/index.ts';
import { type PanelPage, renderPage } from './document.ts';

/** What pages need to know of the service. */
export interface PageSettings {
  readonly panelUrl: string;
  readonly publicUrl: string;
  readonly simulation: boolean;
}

declare module 'fastify' {
  interface FastifyContextConfig {
    /** The Content Security Policy of a route that needs another one than the rest of the panel. */
    policy?: PagePolicy;
  }
}

/** A redirect after a change: a path without the base path. */
interface Redirect {
  readonly onward: string;
}

/** What a handler of the panel returns. */
export type PageOrRedirect = PanelPage | Redirect;

const { banners, onboardingStatuses } = texts.shell;

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
export function registerPages(
  app: FastifyInstance,
  settings: PageSettings & { readonly cookies: PanelCookies },
): void {
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
    reply
      .status(303)
      .header('location', basePath + shown.onward)
      .removeHeader('content-type');
    return '';
  }
  const { session = null, membership = null, notices = [] } = reply.request.visit ?? {};
  const { fault, status = fault ? 422 : 200 } = shown;
  if (fault) logRefusal(reply.request, 'form', fault.field);
  reply.status(status).header('content-type', 'text/html; charset=utf-8');
  return renderPage(shown, {
    ...settings,
    basePath,
    session,
    membership,
    path: pathOf(reply.request.url),
    banner: membership === null ? null : bannerOf(membership),
    notices,
  });
}

/** Redirects after a change, so that reloading does not repeat it. */
export function redirectTo(path: string): Redirect {
  return { onward: path };
}

/** A state of the account that keeps it from taking payments, though people can still enter it. */
function bannerOf(membership: Membership): string | null {
  if (membership.status !== 'active') return banners.inactive;
  if (membership.kind !== 'merchant') return null;
  if (membership.accountKind === 'us' && membership.onboardingStatus !== 'approved') {
    return banners.onboarding(onboardingStatuses[membership.onboardingStatus]);
  }
  return membership.selfServiceOff ? banners.selfServiceOff : null;
}
