import type { NewLink } from '#accounts/people/invitations.ts';
import type { Membership } from '#storage/repositories/people/memberships.ts';
import type { TeamMember } from '#storage/repositories/people/team.ts';
import { type Html, html } from '../../pages/html.ts';
import type { PanelPage } from '../kit/document.ts';
import { type FormFault, renderField, renderSelect } from '../kit/form.ts';
import { dateTime } from '../kit/format.ts';
import { renderFactor } from '../kit/fresh-factor.ts';
import { renderNoneFurther } from '../kit/table.ts';
import { texts } from '../texts/index.ts';
import { TEAM_ROLES } from './forms.ts';

const { shell, team: words } = texts;

export interface TeamFrame {
  readonly kind: Membership['kind'];
  /** The list's address, with the base path. */
  readonly url: string;
  /** ID of the visitor's own user or member. */
  readonly ownId: string;
  readonly isDemo: boolean;
  readonly mayManage: boolean;
  readonly sendsMail: boolean;
}

/** @param isWhole Whether these are all of the team. */
export function teamPage(
  members: readonly TeamMember[],
  { isWhole, older }: { readonly isWhole: boolean; readonly older: string | null },
  frame: TeamFrame,
): PanelPage {
  const { kind, url, mayManage, sendsMail } = frame;
  const isAlone = isWhole && members.length === 1;
  return {
    title: words.title,
    lead: words.lead[kind],
    content: html`${mayManage && html`<p><a class="button" href="${url}/invite">${words.invite.title}</a></p>`}
${isAlone && html`<p class="notice">${words.alone[kind]}</p>`}
${members.length === 0 ? renderNoneFurther(texts, url) : html`<ul class="rows">${members.map(member => renderMember(member, frame))}</ul>`}
${older !== null && html`<p><a href="${older}" rel="next">${words.more}</a></p>`}
${!sendsMail && html`<p class="quiet">${words.noMail[kind]}</p>`}`,
  };
}

function renderMember(member: TeamMember, { url, ownId, mayManage }: TeamFrame): Html {
  const { id, name, email, isDemo, signInEmail, role, status } = member;
  const isSame = signInEmail?.toLowerCase() === email.toLowerCase();
  const signsInWith = isSame || isDemo === true ? null : signInEmail;
  const isActive = status === 'active';
  const link = (path: string, text: string) =>
    html`<a href="${url}/${id}/${path}">${text}<span class="visually-hidden"> (${name})</span></a>`;
  return html`<li><div><strong>${name}</strong> <span class="tag${isActive && (role === 'admin' || role === 'owner') && ' good'}">${words.roles[role]}</span>${
    !isActive && html` <span class="tag bad">${words.inactive}</span>`
  }${id === ownId && html` <span class="tag">${words.you}</span>`}<br>
${email}<br>
${signsInWith !== null && html`${words.signsInWith(signsInWith)}<br>`}
<span class="quiet">${renderAccess(member)}</span></div>
${
  mayManage &&
  html`<div class="buttons">${
    isActive
      ? html`${link('role', words.role.action)} ${id !== ownId && link('link', words.link.action)} ${link('status', words.status.deactivate)}`
      : link('status', words.status.activate)
  }</div>`
}</li>`;
}

/** Whether somebody has joined, what they sign in with, and when they were last seen. */
function renderAccess(member: TeamMember): Html | string {
  const { personId, isDemo, factorsSince, recoveredAt, lastSeenAt, linkUntil, status } = member;
  if (personId === null) {
    if (linkUntil !== null) return words.invited(dateTime(texts, linkUntil));
    return status === 'active' ? words.notJoined : '';
  }
  const seen = lastSeenAt === null ? words.neverSeen : words.lastSeen(dateTime(texts, lastSeenAt));
  if (isDemo === true) return html`${words.demo}<br>${seen}`;
  return html`${factorsSince !== null && words.factors(dateTime(texts, factorsSince))}<br>
${recoveredAt !== null && html`${words.recovered(dateTime(texts, recoveredAt))}<br>`}${
  linkUntil !== null && html`${words.linkOpen(dateTime(texts, linkUntil))}<br>`
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
  { name, email, role, intent }: InviteFields,
  fault: FormFault | null,
  { kind, url, isDemo }: TeamFrame,
): PanelPage {
  const { invite } = words;
  return {
    title: invite.title,
    lead: invite.lead,
    fault,
    content: html`<form method="post" action="${url}/invite" class="stack">
<input type="hidden" name="intent" value="${intent}">
${renderField({ name: 'name', label: invite.name, value: name, maxlength: 200, autocomplete: 'off' }, fault)}
${renderField({ name: 'email', label: invite.email, hint: invite.emailHint, type: 'email', value: email, maxlength: 254, autocomplete: 'off' }, fault)}
${renderSelect('role', invite.role, rolesOf(kind), role)}
${renderFactor(texts, isDemo, fault)}
<button>${invite.submit}</button>
</form>
<p><a href="${url}">${words.back}</a></p>`,
  };
}

export function rolesOf(kind: Membership['kind']): [value: string, text: string][] {
  return TEAM_ROLES[kind].map(role => [role, words.roles[role]]);
}

/**
 * A link, shown once.
 * @param url Of the page that the link opens, with its token.
 */
export function issuedLinkPage(url: string, { expiresAt }: NewLink, teamUrl: string): PanelPage {
  const { issued, issuedLead, label, sent, until } = words.link;
  return {
    title: issued,
    lead: issuedLead,
    content: html`<div class="secret"><h2>${label}</h2><p><code id="link">${url}</code></p>
<button type="button" class="plain copy" data-copy="link" hidden>${shell.copy}</button></div>
<p>${until(dateTime(texts, expiresAt))}</p>
<p><a class="button" href="${teamUrl}">${sent}</a></p>`,
  };
}

/** The form was sent before: the link exists, and cannot be shown again. */
export function alreadyDonePage(teamUrl: string): PanelPage {
  return {
    title: words.done.title,
    content: html`<p>${words.done.text}</p>
<p><a class="button" href="${teamUrl}">${words.title}</a></p>`,
    status: 409,
  };
}
