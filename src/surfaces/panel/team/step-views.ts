import type { FastifyRequest } from 'fastify';
import type { TeamMember } from '#storage/repositories/people/team.ts';
import { type Html, html } from '../../pages/html.ts';
import { membershipOf } from '../hooks/access.ts';
import { texts } from '../hooks/language.ts';
import type { PanelPage } from '../kit/document.ts';
import { type FormFault, renderSelect } from '../kit/form.ts';
import { renderFactor } from '../kit/fresh-factor.ts';
import { LINK_PURPOSES, TEAM_ROLES } from './forms.ts';

/** A change to somebody in the team. Each has its own form, and needs its own code. */
type TeamStep = 'role' | 'status' | 'link';

/** The page of a change: who it is about, and where they are. */
export interface StepPage {
  readonly member: TeamMember;
  /** Of the team's list, with the base path. */
  readonly url: string;
  readonly fault: FormFault | null;
}

/**
 * Gives somebody the other role.
 * @param others How many others sign in as an admin or owner.
 */
export function rolePage(request: FastifyRequest, page: StepPage, others: number): PanelPage {
  const words = texts(request);
  const { kind } = membershipOf(request);
  const { member, fault } = page;
  const { remaining, role, roles } = words.team;
  const [lower, upper] = TEAM_ROLES[kind];
  const wanted = member.role === upper ? lower : upper;
  return {
    title: role.title(member.name),
    lead: role.now(roles[member.role]),
    fault,
    content: renderStep(request, page, 'role', {
      effects: [
        role.effects[wanted](member.name),
        wanted === lower && role.alsoLost[kind],
        wanted === lower && remaining[kind](others),
        role.when,
      ],
      fields: renderHidden('role', wanted),
      button: html`<button>${role.submit(member.name, words.shell.roles[wanted])}</button>`,
    }),
  };
}

/** What else is told of a deactivation. */
interface Deactivation {
  /** How many others sign in as an admin or owner. */
  readonly others: number;
  /** How many API keys of the member work until then. */
  readonly keys: number;
}

/** Deactivates somebody, or activates them again. */
export function statusPage(
  request: FastifyRequest,
  page: StepPage,
  { others, keys }: Deactivation,
): PanelPage {
  const words = texts(request);
  const { kind } = membershipOf(request);
  const { member, fault } = page;
  const { remaining, status } = words.team;
  const wanted = member.status === 'active' ? 'inactive' : 'active';
  const role = words.shell.roles[member.role];
  return {
    title: status.titles[wanted](member.name),
    fault,
    content: renderStep(request, page, 'status', {
      effects:
        wanted === 'active'
          ? [status.returns[kind]]
          : [
              status.leaves(member.name, role),
              kind === 'partner' ? status.ownKeys(keys) : status.keys,
              remaining[kind](others),
            ],
      fields: renderHidden('status', wanted),
      button:
        wanted === 'inactive'
          ? html`<button class="danger">${status.deactivate}</button>`
          : html`<button>${status.activate}</button>`,
    }),
  };
}

/** @param fields The ID under which the link is made once, and what it replaces. */
export function linkPage(
  request: FastifyRequest,
  page: StepPage,
  { intent, purpose }: { readonly intent: string; readonly purpose: string },
): PanelPage {
  const { member, fault } = page;
  const { invitation, purposes, renewal, submit, title, ...link } = texts(request).team.link;
  const choices = LINK_PURPOSES.map(each => [each, purposes[each]] as const);
  const isInvited = member.personId === null;
  return {
    title: title(member.name),
    fault,
    content: renderStep(request, page, 'link', {
      effects: [isInvited ? invitation : renewal],
      fields: html`${renderHidden('intent', intent)}
${isInvited ? renderHidden('purpose', purpose) : renderSelect('purpose', link.purpose, choices, purpose)}`,
      button: html`<button>${submit}</button>`,
    }),
  };
}

function renderHidden(name: string, value: string): Html {
  return html`<input type="hidden" name="${name}" value="${value}">`;
}

interface StepForm {
  /** What it does, in sentences. */
  readonly effects: readonly (string | false)[];
  readonly fields: Html;
  readonly button: Html;
}

function renderStep(
  request: FastifyRequest,
  { member, url, fault }: StepPage,
  step: TeamStep,
  { effects, fields, button }: StepForm,
): Html {
  return html`<p>${effects.filter(Boolean).join(' ')}</p>
<form method="post" action="${url}/${member.id}/${step}" class="stack">
${fields}
${renderFactor(request, fault)}
${button}
</form>
<p><a href="${url}">${texts(request).team.back}</a></p>`;
}
