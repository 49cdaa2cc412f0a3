import type { FastifyRequest } from 'fastify';
import type { Operator } from '#accounts/audit/audited-change.ts';
import { JOIN_PATH, type NewLink } from '#accounts/people/invitations.ts';
import { useIntent } from '#storage/repositories/people/intents.ts';
import { html } from '../../pages/html.ts';
import { sessionOf } from '../hooks/access.ts';
import type { PanelDependencies } from '../hooks/dependencies.ts';
import { texts } from '../hooks/language.ts';
import type { PanelPage } from '../kit/document.ts';
import { dateTime } from '../kit/format.ts';
import { renderNotice } from '../kit/notice.ts';
import { alreadyDonePage, renderSecret } from '../kit/secrets.ts';
import { frameOf } from './frame.ts';

/**
 * Makes a link, once for each form, in the transaction of the change.
 * @returns undefined if the form was sent before.
 * @throws ApiError E9001 for too many secrets of an account, and what `make` throws.
 */
export async function makeLinkOnce(
  request: FastifyRequest<{ Body: { intent: string } }>,
  { clock, limits }: PanelDependencies,
  { db }: Operator,
  make: () => Promise<NewLink>,
): Promise<NewLink | undefined> {
  const { id: personId } = sessionOf(request).person;
  const now = new Date(clock());
  const row = { id: request.body.intent, person_id: personId, created_at: now };
  return limits.countSecret(request, async () => ((await useIntent(db, row)) ? make() : undefined));
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
  const { url } = frameOf(request, deps);
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
