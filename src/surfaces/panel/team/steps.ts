import { randomUUID } from 'node:crypto';
import { changeMember, renewLink } from '#accounts/people/team.ts';
import type { TypedApp } from '#http/typed-app.ts';
import type { Membership } from '#storage/repositories/people/memberships.ts';
import { membershipOf, withPermission } from '../hooks/access.ts';
import type { PanelDependencies } from '../hooks/dependencies.ts';
import { texts } from '../hooks/language.ts';
import { PANEL_PREFIX } from '../kit/assets.ts';
import { registerForm } from '../kit/form-route.ts';
import { ownPath } from '../kit/navigation.ts';
import { type PageOrRedirect, redirectTo } from '../kit/pages.ts';
import { PLACES } from '../kit/places.ts';
import { LINK_PURPOSES, LinkForm, MemberParams, RoleForm, StatusForm } from './forms.ts';
import { issuedLinkPage, makeLinkOnce, teamOf } from './links.ts';
import { type MemberRequest, requireMember } from './member.ts';
import { linkPage, rolePage, statusPage } from './step-views.ts';

/** What changes somebody in the team: their role, whether they may enter, and a new link for them. */
export function registerSteps(
  kind: Membership['kind'],
  app: TypedApp,
  deps: PanelDependencies,
): void {
  const path = `/${kind}s/:accountId${PLACES[kind].team}/:memberId`;
  const opening = withPermission(kind, 'team.manage', { params: MemberParams });
  const form = {
    rule: { for: kind, permission: 'team.manage' },
    params: MemberParams,
    check: (request: MemberRequest) => requireMember(request, deps),
  } as const;

  app.get(`${path}/role`, opening, request => rolePage(request, deps, null));
  registerForm(app, deps, `${path}/role`, {
    ...form,
    body: RoleForm,
    code: request => request.body.code,
    change: (request, operator) => {
      const { role } = request.body;
      return changeMember(operator, membershipOf(request), request.params.memberId, { role });
    },
    again: (request, fault) => rolePage(request, deps, fault),
    done: async request => {
      const { shell, team } = texts(request);
      const { name } = await requireMember(request, deps);
      return leave(request, team.role.done(name, shell.roles[request.body.role]));
    },
  });

  app.get(`${path}/status`, opening, request => statusPage(request, deps, null));
  registerForm(app, deps, `${path}/status`, {
    ...form,
    body: StatusForm,
    code: request => request.body.code,
    change: (request, operator) => {
      const { status } = request.body;
      return changeMember(operator, membershipOf(request), request.params.memberId, { status });
    },
    again: (request, fault) => statusPage(request, deps, fault),
    done: async request => {
      const { name } = await requireMember(request, deps);
      return leave(request, texts(request).team.status.done[request.body.status](name));
    },
  });

  app.get(`${path}/link`, opening, request =>
    linkPage(request, deps, { intent: randomUUID(), purpose: LINK_PURPOSES[0] }, null),
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
    again: (request, fault) => linkPage(request, deps, request.body, fault),
    done: async (request, link) => {
      const { name } = await requireMember(request, deps);
      return issuedLinkPage(request, deps, link, texts(request).team.link.done(name));
    },
  });

  function leave(request: MemberRequest, notice: string): PageOrRedirect {
    // People who changed themselves may not see the team any more.
    const isOwn = membershipOf(request).memberId === request.params.memberId;
    return redirectTo(isOwn ? PANEL_PREFIX : ownPath(request, teamOf(request)), notice);
  }
}
