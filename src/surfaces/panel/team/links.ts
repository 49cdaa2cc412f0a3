import type { FastifyRequest } from 'fastify';
import type { Operator } from '#accounts/audit/audited-change.ts';
import { JOIN_PATH, type NewLink } from '#accounts/people/invitations.ts';
import { html } from '../../pages/html.ts';
import { membershipOf } from '../hooks/access.ts';
import type { PanelDependencies } from '../hooks/dependencies.ts';
import { texts } from '../hooks/language.ts';
import type { PanelPage } from '../kit/document.ts';
import { dateTime } from '../kit/format.ts';
import { ownUrl } from '../kit/navigation.ts';
import { renderNotice } from '../kit/notice.ts';
import { PLACES } from '../kit/places.ts';
import { alreadyDonePage, makeOnce, renderSecret } from '../kit/secrets.ts';

/** Place of the team of the account that a request names, below its own path. */
export function teamOf(request: FastifyRequest): string {
  return PLACES[membershipOf(request).kind].team;
}

/**
 * Makes a link, once for each form, in the transaction of the change.
 * @returns undefined if the form was sent before.
 * @throws ApiError E9001 for too many secrets of an account, and what `make` throws.
 */
export function makeLinkOnce(
  request: FastifyRequest<{ Body: { intent: string } }>,
  { limits }: PanelDependencies,
  operator: Operator,
  make: (operator: Operator) => Promise<NewLink>,
): Promise<NewLink | undefined> {
  return limits.countSecret(request, () => makeOnce(request, operator, request.body.intent, make));
}

/**
 * Shows a link once; if the form was sent before, says that it cannot be shown again.
 * @param done What was done.
 */
export function issuedLinkPage(
  request: FastifyRequest,
  deps: PanelDependencies,
  link: NewLink | undefined,
  done: string,
): PanelPage {
  const words = texts(request);
  const { done: before, link: linkTexts, title } = words.team;
  const url = ownUrl(request, teamOf(request));
  if (link === undefined) return alreadyDonePage(before, { url, text: title });
  const { issued, issuedLead, label, sent, until } = linkTexts;
  return {
    title: issued,
    lead: issuedLead,
    content: html`${renderNotice({ text: done }, '')}
${renderSecret(words, 'link', label, `${deps.panelUrl}${JOIN_PATH}/${link.token}`)}
<p>${until(dateTime(words, link.expiresAt))}</p>
<p><a class="button" href="${url}">${sent}</a></p>`,
  };
}
