import type { TeamMember } from '#storage/repositories/people/team.ts';
import { type Html, html } from '../../pages/html.ts';
import type { PanelPage } from '../kit/document.ts';
import { type FormFault, renderField, renderSelect } from '../kit/form.ts';
import { dateTime } from '../kit/format.ts';
import { renderFactor } from '../kit/fresh-factor.ts';
import { type ListPage, renderList } from '../kit/list.ts';
import type { PanelTexts } from '../texts/panel-texts.ts';
import { TEAM_ROLES } from './forms.ts';
import type { TeamFrame } from './frame.ts';

/** @param query What the list was asked for. */
export function teamPage(
  words: PanelTexts,
  query: { readonly after?: string | undefined },
  page: ListPage<TeamMember>,
  frame: TeamFrame,
): PanelPage {
  const { kind, url, mayManage, sendsMail } = frame;
  const { team } = words;
  const isAlone = query.after === undefined && page.older === null && page.rows.length === 1;
  return {
    title: team.title,
    lead: team.lead[kind],
    content: html`${mayManage && html`<p><a class="button" href="${url}/invite">${team.invite.title}</a></p>`}
${isAlone && html`<p class="notice">${team.alone[kind]}</p>`}
${renderList(words, {
  url,
  query,
  page,
  render: rows =>
    html`<ul class="rows">${rows.map(member => renderMember(words, member, frame))}</ul>`,
  more: team.more,
  none: '',
})}
${!sendsMail && html`<p class="quiet">${team.noMail[kind]}</p>`}`,
  };
}

function renderMember(
  words: PanelTexts,
  member: TeamMember,
  { url, ownId, mayManage }: TeamFrame,
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
  }${id === ownId && html` <span class="tag">${team.you}</span>`}<br>
${email}<br>
${signsInWith !== null && html`${team.signsInWith(signsInWith)}${!isConfirmed && html` <span class="tag bad">${team.unconfirmed}</span>`}<br>`}
<span class="quiet">${renderAccess(words, member)}</span></div>
${
  mayManage &&
  html`<div class="buttons">${
    isActive
      ? html`${link('role', team.role.action)} ${id !== ownId && link('link', team.link.action)} ${link('status', team.status.deactivate)}`
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

interface InviteFields {
  readonly name: string;
  readonly email: string;
  readonly role: string;
  /** ID under which the link is made once. */
  readonly intent: string;
}

export function invitePage(
  words: PanelTexts,
  { name, email, role, intent }: InviteFields,
  fault: FormFault | null,
  { kind, url, isDemo }: TeamFrame,
): PanelPage {
  const { back, invite, roles } = words.team;
  const choices = TEAM_ROLES[kind].map(each => [each, roles[each]] as const);
  return {
    title: invite.title,
    lead: invite.lead,
    fault,
    content: html`<form method="post" action="${url}/invite" class="stack">
<input type="hidden" name="intent" value="${intent}">
${renderField({ name: 'name', label: invite.name, value: name, maxlength: 200, autocomplete: 'off' }, fault)}
${renderField({ name: 'email', label: invite.email, hint: invite.emailHint, type: 'email', value: email, maxlength: 254, autocomplete: 'off' }, fault)}
${renderSelect('role', invite.role, choices, role)}
${renderFactor(words, isDemo, fault)}
<button>${invite.submit}</button>
</form>
<p><a href="${url}">${back}</a></p>`,
  };
}
