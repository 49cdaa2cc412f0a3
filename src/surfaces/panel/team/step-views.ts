import type { TeamMember } from '#storage/repositories/people/team.ts';
import { type Html, html } from '../../pages/html.ts';
import type { PanelPage } from '../kit/document.ts';
import { type FormFault, renderSelect } from '../kit/form.ts';
import { renderFactor } from '../kit/fresh-factor.ts';
import { texts } from '../texts/index.ts';
import { LINK_PURPOSES } from './forms.ts';
import { rolesOf, type TeamFrame } from './views.ts';

const { team: words } = texts;

/** A change to somebody in the team. Each has its own form, and needs its own code. */
type TeamStep = 'role' | 'status' | 'link';

export interface StepFrame extends TeamFrame {
  readonly member: TeamMember;
  readonly fault: FormFault | null;
}

/** @param chosen The role that the form offers first. */
export function rolePage(frame: StepFrame, chosen: string): PanelPage {
  const { kind, member } = frame;
  const { effects, now, role, submit, title } = words.role;
  return {
    title: title(member.name),
    lead: now(words.roles[member.role]),
    fault: frame.fault,
    content: renderStep(frame, 'role', {
      effect: effects[kind],
      fields: renderSelect('role', role, rolesOf(kind), chosen),
      button: html`<button>${submit}</button>`,
    }),
  };
}

/** Deactivates somebody, or activates them again. */
export function statusPage(frame: StepFrame): PanelPage {
  const { kind, member } = frame;
  const { activate, deactivate, effects, titles } = words.status;
  const wanted = member.status === 'active' ? 'inactive' : 'active';
  return {
    title: titles[wanted](member.name),
    fault: frame.fault,
    content: renderStep(frame, 'status', {
      effect: effects[wanted][kind],
      fields: html`<input type="hidden" name="status" value="${wanted}">`,
      button:
        wanted === 'inactive'
          ? html`<button class="danger">${deactivate}</button>`
          : html`<button>${activate}</button>`,
    }),
  };
}

/** @param intent ID under which the link is made once. */
export function linkPage(frame: StepFrame, intent: string, purpose: string): PanelPage {
  const { member } = frame;
  const { invitation, purposes, renewal, submit, title, ...link } = words.link;
  const hidden = (name: string, value: string) =>
    html`<input type="hidden" name="${name}" value="${value}">`;
  const choices = LINK_PURPOSES.map(each => [each, purposes[each]] as const);
  return {
    title: title(member.name),
    fault: frame.fault,
    content: renderStep(frame, 'link', {
      effect: member.personId === null ? invitation : renewal,
      fields: html`${hidden('intent', intent)}
${member.personId === null ? hidden('purpose', purpose) : renderSelect('purpose', link.purpose, choices, purpose)}`,
      button: html`<button>${submit}</button>`,
    }),
  };
}

interface StepForm {
  readonly effect: string;
  readonly fields: Html;
  readonly button: Html;
}

function renderStep(
  { member, url, isDemo, fault }: StepFrame,
  step: TeamStep,
  { effect, fields, button }: StepForm,
): Html {
  return html`<p>${effect}</p>
<form method="post" action="${url}/${member.id}/${step}" class="stack">
${fields}
${renderFactor(texts, isDemo, fault)}
${button}
</form>
<p><a href="${url}">${words.back}</a></p>`;
}
