import type { FastifyReply, FastifyRequest } from 'fastify';
import { adminRoleOf } from '#accounts/access/permissions.ts';
import { OperationRefused } from '#accounts/audit/audited-change.ts';
import {
  FieldRefused,
  LinkEnded,
  SecondFactorClosed,
  SessionEnded,
  WrongProof,
} from '#accounts/people/refusals.ts';
import { failPage } from '#errors/handler.ts';
import type { Refused } from '#errors/refusals/refused.ts';
import { wordRefusal } from '#errors/refusals/wording.ts';
import { basePathOf } from '../../pages/base-path.ts';
import { type Html, html } from '../../pages/html.ts';
import { visitOf } from '../hooks/access.ts';
import { texts } from '../hooks/language.ts';
import { logRefusal } from '../hooks/log-fields.ts';
import { withoutKeys } from '../hooks/private-keys.ts';
import { PanelRefusal, type PanelRefusalReason } from '../hooks/refusal.ts';
import { PANEL_PREFIX } from './assets.ts';
import type { PageSettings, PanelPage } from './document.ts';
import { type FormFault, FormRefused } from './form.ts';
import { isLinkPath } from './next.ts';
import { type PageOrRedirect, redirectTo } from './pages.ts';

export interface PanelFailureOptions extends PageSettings {
  readonly isUnavailable: (error: unknown) => boolean;
}

/** The page that explains a failure, or the redirect to what has to be done first. */
export function explainFailure(
  error: unknown,
  request: FastifyRequest,
  reply: FastifyReply,
  options: PanelFailureOptions,
): PageOrRedirect {
  if (error instanceof LinkEnded) {
    // It was used, has expired or never existed: the page does not reveal which.
    logRefusal(request, 'link-ended');
    return messagePage(texts(request).join.ended, 404);
  }
  if (error instanceof SessionEnded) {
    logRefusal(request, 'session-ended');
    options.cookies.clearSession(reply);
    return redirectTo(`${PANEL_PREFIX}/sign-in`, texts(request).signIn.sessionEnded);
  }
  if (error instanceof PanelRefusal) return explainRefusal(error.reason, request, options);
  failPage(error, request, reply, options);
  const { statusCode: status } = reply;
  const { failures } = texts(request);
  const statuses: Readonly<Record<number, typeof failures.other>> = failures.statuses;
  const { title, text } = statuses[status] ?? failures.other;
  const content = html`<p>${text}</p>
<p class="quiet">${failures.request(html`<code>${request.id}</code>`)}</p>`;
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
  if (error instanceof FormRefused) {
    logRefusal(request, 'form', error.fault.field);
    return error.fault;
  }
  if (error instanceof FieldRefused) {
    const { field } = error;
    logRefusal(request, error instanceof WrongProof ? error.refusal.code : 'form', field);
    return { field, message: messageOf(error, request) };
  }
  if (!(error instanceof OperationRefused)) throw error;
  logRefusal(request, 'operation');
  return { field: null, message: messageOf(error, request) };
}

/** Why an operation is refused, in the language of the request. */
export function messageOf({ refusal }: Refused, request: FastifyRequest): string {
  return wordRefusal(texts(request).refusals, refusal);
}

function explainRefusal(
  reason: PanelRefusalReason,
  request: FastifyRequest,
  { panelUrl }: PanelFailureOptions,
): PageOrRedirect {
  logRefusal(request, reason.kind);
  // After a refused form, this returns to the page that it was sent from.
  const isForm = !['GET', 'HEAD'].includes(request.method);
  const next = withoutKeys(isForm ? pageOfForm(request, basePathOf(panelUrl)) : request.url);
  const suffix = isLinkPath(next) ? '' : `?next=${encodeURIComponent(next)}`;
  const { failures, shell } = texts(request);
  const { roles } = shell;
  switch (reason.kind) {
    // The cookie stays: a concurrent form may have given the session a new token meanwhile.
    case 'signed-out':
      // The page of a link opens without signing in, and asks for it where it is needed.
      if (isLinkPath(next)) return redirectTo(next);
      return redirectTo(`${PANEL_PREFIX}/sign-in${suffix}`);
    case 'half-signed-in':
      return redirectTo(`${PANEL_PREFIX}/sign-in/code${suffix}`);
    case 'foreign-origin':
      return messagePage(failures.foreignOrigin, 403);
    case 'private-key':
      return messagePage(failures.privateKey, 400);
    case 'account-inactive':
      return messagePage(failures.accountInactive, 403);
    case 'not-allowed': {
      const { membership, admins } = reason;
      const { role, name, kind } = membership;
      const { title, text } = failures.notAllowed;
      const content = text(roles[role], name, roles[adminRoleOf(kind)], admins);
      return messagePage({ title, text: content }, 403);
    }
  }
}

function messagePage(
  { title, text }: { readonly title: string; readonly text: Html | string },
  status: number,
): PanelPage {
  return { title, content: html`<p>${text}</p>`, status };
}

/** Path of the page that a form was sent from, without the base path. */
function pageOfForm({ headers: { referer } }: FastifyRequest, basePath: string): string {
  if (referer === undefined || !URL.canParse(referer)) return PANEL_PREFIX;
  const { pathname, search } = new URL(referer);
  const path = pathname.slice(basePath.length);
  return path.startsWith(`${PANEL_PREFIX}/`) ? path + search : PANEL_PREFIX;
}
