import type { Static } from '@sinclair/typebox';
import type { FastifyRequest } from 'fastify';
import { isChangeAllowed } from '#accounts/access/permissions.ts';
import type { Membership } from '#storage/repositories/people/memberships.ts';
import { listTeam, type TeamMember } from '#storage/repositories/people/team.ts';
import { type Html, html } from '../../pages/html.ts';
import { membershipOf } from '../hooks/access.ts';
import type { PanelDependencies } from '../hooks/dependencies.ts';
import { texts } from '../hooks/language.ts';
import type { PanelPage } from '../kit/document.ts';
import { type FormFault, renderField, renderSelect } from '../kit/form.ts';
import { dateTime } from '../kit/format.ts';
import { renderFactor } from '../kit/fresh-factor.ts';
import { readPage, renderList } from '../kit/list.ts';
import { ownUrl } from '../kit/navigation.ts';
import type { PanelTexts } from '../texts/panel-texts.ts';
import { type InviteForm, TEAM_ROLES } from './forms.ts';
import { teamOf } from './links.ts';

const PAGE_SIZE = 25;

/** @param query What the list was asked for. */
export async function teamPage(
  request: FastifyRequest,
  deps: PanelDependencies,
  query: { readonly after?: string | undefined },
): Promise<PanelPage> {
  const words = texts(request);
  const { team } = words;
  const membership = membershipOf(request);
  const { accountId, kind } = membership;
  const now = new Date(deps.clock());
  const page = await readPage(query, PAGE_SIZE, (cursor, limit) =>
    listTeam(deps.reports, kind, accountId, { after: cursor?.id, limit, now }),
  );
  const url = ownUrl(request, teamOf(request));
  const mayManage = isChangeAllowed(membership, 'team.manage');
  const isAlone = query.after === undefined && page.older === null && page.rows.length === 1;
  return {
    title: team.title,
    lead: team.lead[kind],
    content: html`${mayManage && html`<p><a class="button" href="${url}/invite">${team.invite.title}</a></p>`}
${isAlone && html`<p class="notice">${team.alone[kind]}</p>`}
${renderList(words, {
  url,
  query,
  page: { ...page, newer: null },
  render: rows =>
    html`<ul class="rows">${rows.map(member => renderMember(words, url, membership, member))}</ul>`,
  more: team.more,
  none: '',
})}
${!deps.sendsMail && html`<p class="quiet">${team.noMail[kind]}</p>`}`,
  };
}

function renderMember(
  words: PanelTexts,
  url: string,
  visitor: Membership,
  member: TeamMember,
): Html {
  const { team } = words;
  const { id, name, email, isDemo, signInEmail, emailConfirmedAt, role, status } = member;
  const isConfirmed = emailConfirmedAt !== null;
  const isSame = signInEmail?.toLowerCase() === email.toLowerCase();
  const signsInWith = (isSame && isConfirmed) || isDemo === true ? null : signInEmail;
  const isActive = status === 'active';
  const link = (path: string, text: string) =>
    html`<a href="${url}/${id}/${path}">${text}<span class="visually-hidden"> (${name})</span></a>`;
  return html`<li><div><strong>${name}</strong> <span class="tag${isActive && (role === 'admin' || role === 'owner') && ' good'}">${team.roles[role]}</span>${
    !isActive && html` <span class="tag bad">${team.inactive}</span>`
  }${id === visitor.memberId && html` <span class="tag">${team.you}</span>`}<br>
${email}<br>
${signsInWith !== null && html`${team.signsInWith(signsInWith)}${!isConfirmed && html` <span class="tag bad">${team.unconfirmed}</span>`}<br>`}
<span class="quiet">${renderAccess(words, member)}</span></div>
${
  isChangeAllowed(visitor, 'team.manage') &&
  html`<div class="buttons">${
    isActive
      ? html`${link('role', team.role.action)} ${id !== visitor.memberId && link('link', team.link.action)} ${link('status', team.status.deactivate)}`
      : link('status', team.status.activate)
  }</div>`
}</li>`;
}

/** Whether somebody has joined, what they sign in with, and when they were last seen. */
function renderAccess(words: PanelTexts, member: TeamMember): Html | string {
  const { team } = words;
  const { personId, isDemo, factorsSince, recoveredAt, lastSeenAt, linkUntil, status } = member;
  if (personId === null) {
    if (linkUntil !== null) return team.invited(dateTime(words, linkUntil));
    return status === 'active' ? team.notJoined : '';
  }
  const seen = lastSeenAt === null ? team.neverSeen : team.lastSeen(dateTime(words, lastSeenAt));
  if (isDemo === true) return html`${team.demo}<br>${seen}`;
  return html`${factorsSince !== null && team.factors(dateTime(words, factorsSince))}<br>
${recoveredAt !== null && html`${team.recovered(dateTime(words, recoveredAt))}<br>`}${
  linkUntil !== null && html`${team.linkOpen(dateTime(words, linkUntil))}<br>`
}${seen}`;
}

type InviteFields = Pick<Static<typeof InviteForm>, 'name' | 'email' | 'role' | 'intent'>;

export function invitePage(
  request: FastifyRequest,
  { name, email, role, intent }: InviteFields,
  fault: FormFault | null,
): PanelPage {
  const { back, invite, roles } = texts(request).team;
  const url = ownUrl(request, teamOf(request));
  const choices = TEAM_ROLES[membershipOf(request).kind].map(each => [each, roles[each]] as const);
  return {
    title: invite.title,
    lead: invite.lead,
    fault,
    content: html`<form method="post" action="${url}/invite" class="stack">
<input type="hidden" name="intent" value="${intent}">
${renderField({ name: 'name', label: invite.name, value: name, maxlength: 200, autocomplete: 'off' }, fault)}
${renderField({ name: 'email', label: invite.email, hint: invite.emailHint, type: 'email', value: email, maxlength: 254, autocomplete: 'off' }, fault)}
${renderSelect('role', invite.role, choices, role)}
${renderFactor(request, fault)}
<button>${invite.submit}</button>
</form>
<p><a href="${url}">${back}</a></p>`,
  };
}
