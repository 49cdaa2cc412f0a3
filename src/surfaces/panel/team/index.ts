import { randomUUID } from 'node:crypto';
import type { FastifyRequest } from 'fastify';
import { isChangeAllowed } from '#accounts/access/permissions.ts';
import type { Operator } from '#accounts/audit/audited-change.ts';
import { NAME_MAXIMUM, parseEmail, parseName } from '#accounts/input.ts';
import { JOIN_PATH, type NewLink } from '#accounts/people/invitations.ts';
import { FieldRefused } from '#accounts/people/refusals.ts';
import { addToTeam, changeMember, renewLink } from '#accounts/people/team.ts';
import { ApiError } from '#errors/api-error.ts';
import type { TypedApp } from '#http/typed-app.ts';
import { useIntent } from '#storage/repositories/people/intents.ts';
import type { Membership } from '#storage/repositories/people/memberships.ts';
import { findTeamMember, listTeam, type TeamMember } from '#storage/repositories/people/team.ts';
import { basePathOf } from '../../pages/base-path.ts';
import { membershipOf, sessionOf, withPermission } from '../hooks/access.ts';
import type { PanelDependencies } from '../hooks/dependencies.ts';
import { PANEL_PREFIX } from '../kit/assets.ts';
import type { PanelPage } from '../kit/document.ts';
import { faultOf } from '../kit/failures.ts';
import type { FormFault } from '../kit/form.ts';
import { changeWithFactor } from '../kit/fresh-factor.ts';
import { accountPath } from '../kit/navigation.ts';
import { addressOf } from '../kit/page-address.ts';
import { type PageOrRedirect, redirectTo } from '../kit/pages.ts';
import { PLACES } from '../kit/places.ts';
import {
  InviteForm,
  LINK_PURPOSES,
  LinkForm,
  MemberParams,
  RoleForm,
  StatusForm,
  TEAM_ROLES,
  TeamQuery,
} from './forms.ts';
import { linkPage, rolePage, type StepFrame, statusPage } from './step-views.ts';
import { alreadyDonePage, invitePage, issuedLinkPage, type TeamFrame, teamPage } from './views.ts';

const PAGE_SIZE = 25;

/** The people who may enter an account. Admins and owners change the list; members of a merchant may see it. */
export function registerTeam(app: TypedApp, deps: PanelDependencies): void {
  registerTeamOf('merchant', app, deps);
  registerTeamOf('partner', app, deps);
}

function registerTeamOf(kind: Membership['kind'], app: TypedApp, deps: PanelDependencies): void {
  const { clock, db, limits, panelUrl, reports, sendsMail } = deps;
  const path = `/${kind}s/:accountId${PLACES[kind].team}`;
  const pathOf = (request: FastifyRequest) =>
    accountPath(membershipOf(request)) + PLACES[kind].team;

  const listing = withPermission(kind, 'team.read', { querystring: TeamQuery });
  app.get(path, listing, async request => {
    const { accountId } = membershipOf(request);
    const { after } = request.query;
    const now = new Date(clock());
    const found = await listTeam(reports, kind, accountId, { after, limit: PAGE_SIZE + 1, now });
    const members = found.slice(0, PAGE_SIZE);
    const hasMore = found.length > PAGE_SIZE;
    const frame = frameOf(request);
    const older = hasMore ? addressOf(frame.url, { after: members.at(-1)?.id }) : null;
    return teamPage(members, { isWhole: after === undefined && !hasMore, older }, frame);
  });

  app.get(`${path}/invite`, withPermission(kind, 'team.manage'), request => {
    const [role] = TEAM_ROLES[kind];
    return invitePage({ name: '', email: '', role, intent: randomUUID() }, null, frameOf(request));
  });

  const inviting = withPermission(kind, 'team.manage', { body: InviteForm });
  app.post(`${path}/invite`, inviting, async request => {
    const { code, intent, ...fields } = request.body;
    try {
      const newcomer = readNewcomer(fields);
      return await issue(request, { code, intent }, operator =>
        addToTeam(operator, membershipOf(request), newcomer),
      );
    } catch (error) {
      return invitePage({ ...fields, intent }, faultOf(error, request), frameOf(request));
    }
  });

  const opening = withPermission(kind, 'team.manage', { params: MemberParams });
  app.get(`${path}/:memberId/role`, opening, async request => {
    const frame = await stepOf(request, request.params.memberId, null);
    // Offers the other role first: nobody opens this form to keep the present one.
    const [chosen = ''] = TEAM_ROLES[kind].filter(role => role !== frame.member.role);
    return rolePage(frame, chosen);
  });
  app.get(`${path}/:memberId/status`, opening, async request =>
    statusPage(await stepOf(request, request.params.memberId, null)),
  );
  app.get(`${path}/:memberId/link`, opening, async request =>
    linkPage(await stepOf(request, request.params.memberId, null), randomUUID(), LINK_PURPOSES[0]),
  );

  const changingRole = withPermission(kind, 'team.manage', {
    params: MemberParams,
    body: RoleForm,
  });
  app.post(`${path}/:memberId/role`, changingRole, async request => {
    const { role, code } = request.body;
    const { memberId } = request.params;
    try {
      return await change(request, memberId, code, { role });
    } catch (error) {
      return rolePage(await stepOf(request, memberId, faultOf(error, request)), role);
    }
  });

  const changingStatus = withPermission(kind, 'team.manage', {
    params: MemberParams,
    body: StatusForm,
  });
  app.post(`${path}/:memberId/status`, changingStatus, async request => {
    const { status, code } = request.body;
    const { memberId } = request.params;
    try {
      return await change(request, memberId, code, { status });
    } catch (error) {
      return statusPage(await stepOf(request, memberId, faultOf(error, request)));
    }
  });

  const linking = withPermission(kind, 'team.manage', { params: MemberParams, body: LinkForm });
  app.post(`${path}/:memberId/link`, linking, async request => {
    const { purpose, ...once } = request.body;
    const { memberId } = request.params;
    await requireMember(request, memberId);
    try {
      return await issue(request, once, operator =>
        renewLink(operator, membershipOf(request), memberId, purpose),
      );
    } catch (error) {
      return linkPage(
        await stepOf(request, memberId, faultOf(error, request)),
        once.intent,
        purpose,
      );
    }
  });

  async function change(
    request: FastifyRequest,
    memberId: string,
    code: string,
    wanted: Parameters<typeof changeMember>[3],
  ): Promise<PageOrRedirect> {
    const account = membershipOf(request);
    await requireMember(request, memberId);
    await changeWithFactor(request, deps, code, operator =>
      changeMember(operator, account, memberId, wanted),
    );
    // People who changed themselves may not see the team any more.
    return redirectTo(account.memberId === memberId ? PANEL_PREFIX : pathOf(request));
  }

  /** Makes a link once for each intent, and shows it. */
  async function issue(
    request: FastifyRequest,
    { code, intent }: { readonly code: string; readonly intent: string },
    make: (operator: Operator) => Promise<NewLink>,
  ): Promise<PanelPage> {
    await limits.countSecret(request);
    const { id: personId } = sessionOf(request).person;
    const link = await changeWithFactor(request, deps, code, async operator => {
      const row = { id: intent, person_id: personId, created_at: new Date(clock()) };
      return (await useIntent(operator.db, row)) ? make(operator) : undefined;
    });
    const { url } = frameOf(request);
    if (link === undefined) return alreadyDonePage(url);
    return issuedLinkPage(`${panelUrl}${JOIN_PATH}/${link.token}`, link, url);
  }

  async function requireMember(request: FastifyRequest, id: string): Promise<TeamMember> {
    const { accountId } = membershipOf(request);
    const member = await findTeamMember(db, kind, accountId, { id, now: new Date(clock()) });
    if (member === undefined) throw new ApiError('E3001');
    return member;
  }

  async function stepOf(
    request: FastifyRequest,
    memberId: string,
    fault: FormFault | null,
  ): Promise<StepFrame> {
    return { ...frameOf(request), member: await requireMember(request, memberId), fault };
  }

  function frameOf(request: FastifyRequest): TeamFrame {
    const membership = membershipOf(request);
    const { memberId } = membership;
    return {
      kind,
      url: basePathOf(panelUrl) + pathOf(request),
      ownId: memberId,
      isDemo: sessionOf(request).person.is_demo,
      mayManage: isChangeAllowed(membership, 'team.manage'),
      sendsMail,
    };
  }
}

/** @throws FieldRefused for an invalid name or e-mail address. */
function readNewcomer<T extends { readonly name: string; readonly email: string }>(fields: T): T {
  const name = parseName(fields.name.trim());
  if (name === undefined) throw new FieldRefused('name', 'name-invalid', { maximum: NAME_MAXIMUM });
  const email = parseEmail(fields.email.trim());
  if (email === undefined) throw new FieldRefused('email', 'email-invalid');
  return { ...fields, name, email };
}
