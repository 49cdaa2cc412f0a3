import { randomUUID } from 'node:crypto';
import type { FastifyRequest } from 'fastify';
import { changeMember, renewLink } from '#accounts/people/team.ts';
import { ApiError } from '#errors/api-error.ts';
import type { TypedApp } from '#http/typed-app.ts';
import { countActiveKeys } from '#storage/repositories/keys/api-keys.ts';
import type { Membership } from '#storage/repositories/people/memberships.ts';
import {
  countOtherAdmins,
  findTeamMember,
  type TeamMember,
} from '#storage/repositories/people/team.ts';
import { membershipOf, withPermission } from '../hooks/access.ts';
import type { PanelDependencies } from '../hooks/dependencies.ts';
import { texts } from '../hooks/language.ts';
import { PANEL_PREFIX } from '../kit/assets.ts';
import type { PanelPage } from '../kit/document.ts';
import type { FormFault } from '../kit/form.ts';
import { registerForm } from '../kit/form-route.ts';
import { ownPath, ownUrl } from '../kit/navigation.ts';
import { type PageOrRedirect, redirectTo } from '../kit/pages.ts';
import { PLACES } from '../kit/places.ts';
import { LINK_PURPOSES, LinkForm, MemberParams, RoleForm, StatusForm } from './forms.ts';
import { issuedLinkPage, makeLinkOnce, teamOf } from './links.ts';
import { linkPage, rolePage, type StepPage, statusPage } from './step-views.ts';

type MemberRequest = FastifyRequest<{ Params: { memberId: string } }>;

/** What changes somebody in the team: their role, whether they may enter, and a new link for them. */
export function registerSteps(
  kind: Membership['kind'],
  app: TypedApp,
  deps: PanelDependencies,
): void {
  const { clock, db } = deps;
  const path = `/${kind}s/:accountId${PLACES[kind].team}/:memberId`;
  const opening = withPermission(kind, 'team.manage', { params: MemberParams });
  const form = {
    rule: { for: kind, permission: 'team.manage' },
    params: MemberParams,
    check: requireMember,
  } as const;

  app.get(`${path}/role`, opening, request => showRole(request, null));
  registerForm(app, deps, `${path}/role`, {
    ...form,
    body: RoleForm,
    code: request => request.body.code,
    change: (request, operator) => {
      const { role } = request.body;
      return changeMember(operator, membershipOf(request), request.params.memberId, { role });
    },
    again: showRole,
    done: async request => {
      const { shell, team } = texts(request);
      const { name } = await requireMember(request);
      return leave(request, team.role.done(name, shell.roles[request.body.role]));
    },
  });

  app.get(`${path}/status`, opening, request => showStatus(request, null));
  registerForm(app, deps, `${path}/status`, {
    ...form,
    body: StatusForm,
    code: request => request.body.code,
    change: (request, operator) => {
      const { status } = request.body;
      return changeMember(operator, membershipOf(request), request.params.memberId, { status });
    },
    again: showStatus,
    done: async request => {
      const { name } = await requireMember(request);
      return leave(request, texts(request).team.status.done[request.body.status](name));
    },
  });

  app.get(`${path}/link`, opening, request =>
    showLink(request, { intent: randomUUID(), purpose: LINK_PURPOSES[0] }, null),
  );
  registerForm(app, deps, `${path}/link`, {
    ...form,
    body: LinkForm,
    code: request => request.body.code,
    change: (request, operator) => {
      const { purpose } = request.body;
      const { memberId } = request.params;
      return makeLinkOnce(request, deps, operator, by =>
        renewLink(by, membershipOf(request), memberId, purpose),
      );
    },
    again: (request, fault) => showLink(request, request.body, fault),
    done: async (request, link) => {
      const { name } = await requireMember(request);
      return issuedLinkPage(request, deps, link, texts(request).team.link.done(name));
    },
  });

  /** @throws ApiError E3001 for somebody who is not in the team. */
  async function requireMember(request: MemberRequest): Promise<TeamMember> {
    const { accountId } = membershipOf(request);
    const wanted = { id: request.params.memberId, now: new Date(clock()) };
    const member = await findTeamMember(db, kind, accountId, wanted);
    if (member === undefined) throw new ApiError('E3001');
    return member;
  }

  async function showRole(request: MemberRequest, fault: FormFault | null): Promise<PanelPage> {
    return rolePage(request, await stepOf(request, fault), await countOthers(request));
  }

  async function showStatus(request: MemberRequest, fault: FormFault | null): Promise<PanelPage> {
    const { memberId } = request.params;
    return statusPage(request, await stepOf(request, fault), {
      others: await countOthers(request),
      keys: kind === 'partner' ? await countActiveKeys(db, { memberId }, new Date(clock())) : 0,
    });
  }

  async function showLink(
    request: MemberRequest,
    fields: { readonly intent: string; readonly purpose: string },
    fault: FormFault | null,
  ): Promise<PanelPage> {
    return linkPage(request, await stepOf(request, fault), fields);
  }

  async function stepOf(request: MemberRequest, fault: FormFault | null): Promise<StepPage> {
    const url = ownUrl(request, teamOf(request));
    return { member: await requireMember(request), url, fault };
  }

  function countOthers(request: MemberRequest): Promise<number> {
    const { accountId } = membershipOf(request);
    return countOtherAdmins(db, kind, accountId, request.params.memberId);
  }

  function leave(request: MemberRequest, notice: string): PageOrRedirect {
    // People who changed themselves may not see the team any more.
    const isOwn = membershipOf(request).memberId === request.params.memberId;
    return redirectTo(isOwn ? PANEL_PREFIX : ownPath(request, teamOf(request)), notice);
  }
}
