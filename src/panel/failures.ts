import type { FastifyReply, FastifyRequest } from 'fastify';
import { failPage } from '../errors/handler.ts';
import { basePathOf } from '../pages/base-path.ts';
import { html } from '../pages/html.ts';
import { decidingRole, ROLE_NAMES } from './access/permissions.ts';
import { PANEL_PREFIX } from './assets.ts';
import { visitOf } from './hooks/access.ts';
import type { PanelCookies } from './hooks/cookies.ts';
import { PanelRefusal, type PanelRefusalReason } from './hooks/refusal.ts';
import { isLinkPath } from './next.ts';
import { leadTo, type PageSettings, sendPage } from './pages.ts';
import { SecondFactorClosed, SessionEnded } from './people/refusals.ts';

export interface PanelFailureOptions extends PageSettings {
  readonly cookies: PanelCookies;
  readonly isUnavailable: (error: unknown) => boolean;
}

/** Answers with a page that tells what is wrong, and why only where that helps whoever reads it. */
export function sendPanelFailure(
  error: unknown,
  request: FastifyRequest,
  reply: FastifyReply,
  options: PanelFailureOptions,
): FastifyReply {
  if (error instanceof SessionEnded) {
    options.cookies.clearSession(reply);
    return leadTo(reply, options.panelUrl, `${PANEL_PREFIX}/sign-in`);
  }
  if (error instanceof PanelRefusal) return sendRefusal(error.reason, request, reply, options);
  failPage(error, request, reply, options);
  const { title, text } = textsOf(reply.statusCode);
  const content = html`<p>${text}</p>
<p class="quiet">Request <code>${request.id}</code></p>`;
  return sendPage(request, reply, options, { title, content }, reply.statusCode);
}

/** Tells an operator that somebody may be guessing at a person's codes. */
export function logClosed(error: unknown, request: FastifyRequest): void {
  if (!(error instanceof SecondFactorClosed)) return;
  const { session, visitor } = visitOf(request);
  const { address } = visitor;
  request.log.warn({ personId: session?.person.id, address }, 'too many wrong codes for a person');
}

function textsOf(status: number): { title: string; text: string } {
  switch (status) {
    case 400:
      return { title: 'This form cannot be read', text: 'Go back, reload the page and try again.' };
    case 404:
      return {
        title: 'There is no such page',
        text: 'It does not exist, or it is not yours. Check the link, or begin with your accounts.',
      };
    case 405:
      return {
        title: 'This page is asked for in another way',
        text: 'Open it by its link, or send its form again.',
      };
    case 429:
      return { title: 'Too many requests', text: 'Wait a minute, then try again.' };
    case 503:
      return {
        title: 'Not available just now',
        text: 'Nothing was changed. Try again in a minute.',
      };
    default:
      return {
        title: 'Something went wrong on our side',
        text: 'Try again in a minute. If it stays, tell your operator the ID of the request.',
      };
  }
}

function sendRefusal(
  reason: PanelRefusalReason,
  request: FastifyRequest,
  reply: FastifyReply,
  options: PanelFailureOptions,
): FastifyReply {
  const { panelUrl } = options;
  const personId = request.visit?.session?.person.id;
  request.log.info({ refusal: reason.kind, personId, route: request.routeOptions.url }, 'refused');
  // A form that was refused is begun anew from its page.
  const isForm = !['GET', 'HEAD'].includes(request.method);
  const next = !isForm ? request.url : pageOfForm(request, basePathOf(panelUrl));
  const suffix = isLinkPath(next) ? '' : `?next=${encodeURIComponent(next)}`;
  switch (reason.kind) {
    case 'signed-out':
      options.cookies.clearSession(reply);
      // The page of a link is there for everybody, and leads to signing in by itself.
      if (isLinkPath(next)) return leadTo(reply, panelUrl, next);
      return leadTo(reply, panelUrl, `${PANEL_PREFIX}/sign-in${suffix}`);
    case 'half-signed-in':
      return leadTo(reply, panelUrl, `${PANEL_PREFIX}/sign-in/code${suffix}`);
    case 'factor-needed':
      return leadTo(reply, panelUrl, `${PANEL_PREFIX}/confirm${suffix}`);
    case 'foreign-origin':
      return sendPage(
        request,
        reply,
        options,
        {
          title: 'This request came from elsewhere',
          content: html`<p>Nothing was changed. Forms are taken, and files given, only from this panel's own pages; open the page again and try from there.</p>`,
        },
        403,
      );
    case 'account-inactive':
      return sendPage(
        request,
        reply,
        options,
        {
          title: 'This account is inactive',
          content: html`<p>Nothing was changed: an inactive account can be read alone. Ask your operator.</p>`,
        },
        403,
      );
    case 'not-allowed': {
      const { membership, deciders } = reason;
      const needed = ROLE_NAMES[decidingRole(membership.kind)];
      const names = deciders.length === 0 ? '' : `: ${deciders.join(', ')}`;
      return sendPage(
        request,
        reply,
        options,
        {
          title: 'You may not do this',
          content: html`<p>You are ${ROLE_NAMES[membership.role]} of ${membership.name}; this takes ${needed}${names}.</p>`,
        },
        403,
      );
    }
  }
}

/** Path of the page that a form was sent from, without the base path. */
function pageOfForm({ headers: { referer } }: FastifyRequest, basePath: string): string {
  if (referer === undefined || !URL.canParse(referer)) return PANEL_PREFIX;
  const { pathname, search } = new URL(referer);
  const path = pathname.slice(basePath.length);
  return path.startsWith(`${PANEL_PREFIX}/`) ? path + search : PANEL_PREFIX;
}
