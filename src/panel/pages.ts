import type { FastifyReply, FastifyRequest } from 'fastify';
import { pathOf } from '../http/request-target.ts';
import { pageHeaders } from '../http/security-headers.ts';
import { basePathOf } from '../pages/base-path.ts';
import type { Membership } from '../repositories/people/memberships.ts';
import { type PanelPage, renderPage } from './layout.ts';

/** What pages need to know of the service. */
export interface PageSettings {
  readonly panelUrl: string;
  readonly publicUrl: string;
  readonly simulation: boolean;
}

/** Seconds of a year. */
const YEAR = 31_536_000;

/** Headers of everything that the panel answers. */
export function panelHeaders(panelUrl: string): Record<string, string> {
  const isSecure = panelUrl.startsWith('https:');
  return {
    ...pageHeaders(
      "script-src 'self'",
      "style-src 'self'",
      "img-src 'self'",
      "connect-src 'self'",
      "form-action 'self'",
    ),
    'cross-origin-opener-policy': 'same-origin',
    'cross-origin-resource-policy': 'same-origin',
    'permissions-policy': 'clipboard-write=(self)',
    // With no-referrer, as the checkout has it, Chromium sends our own forms with `Origin: null`.
    'referrer-policy': 'same-origin',
    'x-robots-tag': 'noindex',
    ...(isSecure ? { 'strict-transport-security': `max-age=${YEAR}; includeSubDomains` } : {}),
  };
}

/** Sends a page in the frame of whoever looks at it. */
export function sendPage(
  request: FastifyRequest,
  reply: FastifyReply,
  { panelUrl, publicUrl, simulation }: PageSettings,
  page: PanelPage,
  status = 200,
): FastifyReply {
  const { session = null, membership = null } = request.visit ?? {};
  const document = renderPage(page, {
    path: pathOf(request.url),
    basePath: basePathOf(panelUrl),
    ...{ publicUrl, simulation, session, membership },
    banner: membership === null ? null : bannerOf(membership),
  });
  return reply
    .status(status)
    .header('content-type', 'text/html; charset=utf-8')
    .serializer(String)
    .send(document);
}

/** Leads on after a change, so that reloading does not repeat it. */
export function leadTo(reply: FastifyReply, panelUrl: string, path: string): FastifyReply {
  return reply.redirect(`${basePathOf(panelUrl)}${path}`, 303);
}

/** What does not lock anybody out, but keeps the account from taking payments. */
function bannerOf(membership: Membership): string | null {
  if (membership.status !== 'active') {
    return 'This account is inactive: it can be read, and nothing in it can be changed. Ask your operator.';
  }
  if (membership.kind !== 'merchant') return null;
  if (membership.accountKind === 'us' && membership.onboardingStatus !== 'approved') {
    return `Onboarding of this account is ${membership.onboardingStatus}: until it is approved, its keys are refused with E2102.`;
  }
  if (membership.selfServiceOff) {
    return 'Your partner has switched API keys of its merchants off: they are refused with E2103.';
  }
  return null;
}
