import type { Static } from '@sinclair/typebox';
import { countActiveKeys } from '#storage/repositories/keys/api-keys.ts';
import { countOtherAdmins } from '#storage/repositories/people/team.ts';
import { type Html, html } from '../../pages/html.ts';
import { membershipOf } from '../hooks/access.ts';
import type { PanelDependencies } from '../hooks/dependencies.ts';
import { texts } from '../hooks/language.ts';
import type { PanelPage } from '../kit/document.ts';
import { type FormFault, renderSelect } from '../kit/form.ts';
import { renderFactor } from '../kit/fresh-factor.ts';
import { ownUrl } from '../kit/navigation.ts';
import { LINK_PURPOSES, type LinkForm, TEAM_ROLES } from './forms.ts';
import { teamOf } from './links.ts';
import { type MemberRequest, requireMember } from './member.ts';

/** A change to somebody in the team. Each has its own form, and needs its own code. */
type TeamStep = 'role' | 'status' | 'link';

/** Gives somebody the other role. */
export async function rolePage(
  request: MemberRequest,
  deps: PanelDependencies,
  fault: FormFault | null,
): Promise<PanelPage> {
  const words = texts(request);
  const { kind } = membershipOf(request);
  const member = await requireMember(request, deps);
  const others = await countOthers(request, deps);
  const { remaining, role, roles } = words.team;
  const [lower, upper] = TEAM_ROLES[kind];
  const wanted = member.role === upper ? lower : upper;
  return {
    title: role.title(member.name),
    lead: role.now(roles[member.role]),
    fault,
    content: renderStep(request, 'role', fault, {
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

/** Deactivates somebody, or activates them again. */
export async function statusPage(
  request: MemberRequest,
  deps: PanelDependencies,
  fault: FormFault | null,
): Promise<PanelPage> {
  const words = texts(request);
  const { kind } = membershipOf(request);
  const { memberId } = request.params;
  const member = await requireMember(request, deps);
  const others = await countOthers(request, deps);
  const now = new Date(deps.clock());
  const keys = kind === 'partner' ? await countActiveKeys(deps.db, { memberId }, now) : 0;
  const { remaining, status } = words.team;
  const wanted = member.status === 'active' ? 'inactive' : 'active';
  const role = words.shell.roles[member.role];
  return {
    title: status.titles[wanted](member.name),
    fault,
    content: renderStep(request, 'status', fault, {
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
export async function linkPage(
  request: MemberRequest,
  deps: PanelDependencies,
  { intent, purpose }: Pick<Static<typeof LinkForm>, 'intent' | 'purpose'>,
  fault: FormFault | null,
): Promise<PanelPage> {
  const member = await requireMember(request, deps);
  const { invitation, purposes, renewal, submit, title, ...link } = texts(request).team.link;
  const choices = LINK_PURPOSES.map(each => [each, purposes[each]] as const);
  const isInvited = member.personId === null;
  return {
    title: title(member.name),
    fault,
    content: renderStep(request, 'link', fault, {
      effects: [isInvited ? invitation : renewal],
      fields: html`${renderHidden('intent', intent)}
${isInvited ? renderHidden('purpose', purpose) : renderSelect('purpose', link.purpose, choices, purpose)}`,
      button: html`<button>${submit}</button>`,
    }),
  };
}

/** How many others sign in as an admin or owner. */
function countOthers(request: MemberRequest, { db }: PanelDependencies): Promise<number> {
  const { kind, accountId } = membershipOf(request);
  return countOtherAdmins(db, kind, accountId, request.params.memberId);
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
  request: MemberRequest,
  step: TeamStep,
  fault: FormFault | null,
  { effects, fields, button }: StepForm,
): Html {
  const url = ownUrl(request, teamOf(request));
  return html`<p>${effects.filter(Boolean).join(' ')}</p>
<form method="post" action="${url}/${request.params.memberId}/${step}" class="stack">
${fields}
${renderFactor(request, fault)}
${button}
</form>
<p><a href="${url}">${texts(request).team.back}</a></p>`;
}
