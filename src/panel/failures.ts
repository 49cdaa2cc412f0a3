import type { FastifyReply, FastifyRequest } from 'fastify';
import { OperationRefused } from '../audit/audited-change.ts';
import { failPage } from '../errors/handler.ts';
import { basePathOf } from '../pages/base-path.ts';
import { type Html, html } from '../pages/html.ts';
import { decidingRole, ROLE_NAMES } from './access/permissions.ts';
import { PANEL_PREFIX } from './assets.ts';
import type { FormFault } from './form.ts';
import { visitOf } from './hooks/access.ts';
import type { PanelCookies } from './hooks/cookies.ts';
import { PanelRefusal, type PanelRefusalReason } from './hooks/refusal.ts';
import { ENDED_PAGE } from './join/views.ts';
import type { PanelPage } from './layout.ts';
import { isLinkPath } from './next.ts';
import { leadTo, type PageSettings, type Shown } from './pages.ts';
import { FieldRefused, LinkEnded, SecondFactorClosed, SessionEnded } from './people/refusals.ts';

export interface PanelFailureOptions extends PageSettings {
  readonly cookies: PanelCookies;
  readonly isUnavailable: (error: unknown) => boolean;
}

/** Title and text of a failure's page, by HTTP status. */
const TEXTS: Readonly<Record<number, readonly [title: string, text: string]>> = {
  400: ['This form cannot be read', 'Go back, reload the page and try again.'],
  404: [
    'There is no such page',
    'It does not exist, or it is not yours. Check the link, or begin with your accounts.',
  ],
  405: ['This page is asked for in another way', 'Open it by its link, or send its form again.'],
  429: ['Too many requests', 'Wait a minute, then try again.'],
  503: ['Not available just now', 'Nothing was changed. Try again in a minute.'],
};
const OWN_FAILURE = [
  'Something went wrong on our side',
  'Try again in a minute. If it stays, tell your operator the ID of the request.',
] as const;

/** The page that explains a failure, or the redirect to what has to be done first. */
export function explainFailure(
  error: unknown,
  request: FastifyRequest,
  reply: FastifyReply,
  options: PanelFailureOptions,
): Shown {
  if (error instanceof LinkEnded) return ENDED_PAGE;
  if (error instanceof SessionEnded) {
    options.cookies.clearSession(reply);
    return leadTo(`${PANEL_PREFIX}/sign-in`);
  }
  if (error instanceof PanelRefusal) return explainRefusal(error.reason, request, reply, options);
  failPage(error, request, reply, options);
  const { statusCode: status } = reply;
  const [title, text] = TEXTS[status] ?? OWN_FAILURE;
  const content = html`<p>${text}</p>
<p class="quiet">Request <code>${request.id}</code></p>`;
  return { title, content, status };
}

/**
 * Why a form is refused, for showing it again.
 * @throws error if it is no refusal of a form.
 */
export function faultOf(error: unknown, request: FastifyRequest): FormFault {
  if (error instanceof SecondFactorClosed) {
    const { session, visitor } = visitOf(request);
    const { address } = visitor;
    const personId = session?.person.id;
    request.log.warn({ personId, address }, 'too many wrong codes for a person');
  }
  if (error instanceof FieldRefused) return { field: error.field, message: error.message };
  if (error instanceof OperationRefused) return { field: null, message: error.message };
  throw error;
}

function explainRefusal(
  reason: PanelRefusalReason,
  request: FastifyRequest,
  reply: FastifyReply,
  { panelUrl, cookies }: PanelFailureOptions,
): Shown {
  const personId = request.visit?.session?.person.id;
  request.log.info({ refusal: reason.kind, personId, route: request.routeOptions.url }, 'refused');
  // After a refused form its page is opened again.
  const isForm = !['GET', 'HEAD'].includes(request.method);
  const next = !isForm ? request.url : pageOfForm(request, basePathOf(panelUrl));
  const suffix = isLinkPath(next) ? '' : `?next=${encodeURIComponent(next)}`;
  switch (reason.kind) {
    case 'signed-out':
      cookies.clearSession(reply);
      // The page of a link can be opened without signing in, and leads to it where that is needed.
      if (isLinkPath(next)) return leadTo(next);
      return leadTo(`${PANEL_PREFIX}/sign-in${suffix}`);
    case 'half-signed-in':
      return leadTo(`${PANEL_PREFIX}/sign-in/code${suffix}`);
    case 'factor-needed':
      return leadTo(`${PANEL_PREFIX}/confirm${suffix}`);
    case 'foreign-origin':
      return forbidden(
        'This request came from elsewhere',
        html`<p>Nothing was changed. Forms are taken, and files given, only from this panel's own pages; open the page again and try from there.</p>`,
      );
    case 'account-inactive':
      return forbidden(
        'This account is inactive',
        html`<p>Nothing was changed: an inactive account can be read alone. Ask your operator.</p>`,
      );
    case 'not-allowed': {
      const { membership, deciders } = reason;
      const needed = ROLE_NAMES[decidingRole(membership.kind)];
      const names = deciders.length === 0 ? '' : `: ${deciders.join(', ')}`;
      return forbidden(
        'You may not do this',
        html`<p>You are ${ROLE_NAMES[membership.role]} of ${membership.name}; this takes ${needed}${names}.</p>`,
      );
    }
  }
}

function forbidden(title: string, content: Html): PanelPage {
  return { title, content, status: 403 };
}

/** Path of the page that a form was sent from, without the base path. */
function pageOfForm({ headers: { referer } }: FastifyRequest, basePath: string): string {
  if (referer === undefined || !URL.canParse(referer)) return PANEL_PREFIX;
  const { pathname, search } = new URL(referer);
  const path = pathname.slice(basePath.length);
  return path.startsWith(`${PANEL_PREFIX}/`) ? path + search : PANEL_PREFIX;
}
