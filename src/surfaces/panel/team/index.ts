import { randomUUID } from 'node:crypto';
import { NAME_MAXIMUM, parseEmail, parseName } from '#accounts/input.ts';
import { FieldRefused } from '#accounts/people/refusals.ts';
import { addToTeam } from '#accounts/people/team.ts';
import type { TypedApp } from '#http/typed-app.ts';
import type { Membership } from '#storage/repositories/people/memberships.ts';
import { listTeam } from '#storage/repositories/people/team.ts';
import { membershipOf, withPermission } from '../hooks/access.ts';
import type { PanelDependencies } from '../hooks/dependencies.ts';
import { texts } from '../hooks/language.ts';
import { registerForm } from '../kit/form-route.ts';
import { readPage } from '../kit/list.ts';
import { PLACES } from '../kit/places.ts';
import { InviteForm, TEAM_ROLES, TeamQuery } from './forms.ts';
import { frameOf } from './frame.ts';
import { issuedLinkPage, makeLinkOnce } from './links.ts';
import { registerSteps } from './steps.ts';
import { invitePage, teamPage } from './views.ts';

const PAGE_SIZE = 25;

/** The people who may enter an account. Admins and owners change the list; members of a merchant may see it. */
export function registerTeam(app: TypedApp, deps: PanelDependencies): void {
  registerTeamOf('merchant', app, deps);
  registerTeamOf('partner', app, deps);
}

function registerTeamOf(kind: Membership['kind'], app: TypedApp, deps: PanelDependencies): void {
  const { clock, reports } = deps;
  const path = `/${kind}s/:accountId${PLACES[kind].team}`;

  const listing = withPermission(kind, 'team.read', { querystring: TeamQuery });
  app.get(path, listing, async request => {
    const { accountId } = membershipOf(request);
    const now = new Date(clock());
    const page = await readPage(request.query, PAGE_SIZE, (cursor, limit) =>
      listTeam(reports, kind, accountId, { after: cursor?.id, limit, now }),
    );
    const frame = frameOf(request, deps);
    return teamPage(texts(request), request.query, { ...page, newer: null }, frame);
  });

  app.get(`${path}/invite`, withPermission(kind, 'team.manage'), request => {
    const [role] = TEAM_ROLES[kind];
    const fields = { name: '', email: '', role, intent: randomUUID() };
    return invitePage(texts(request), fields, null, frameOf(request, deps));
  });

  registerForm(app, deps, `${path}/invite`, {
    rule: { for: kind, permission: 'team.manage' },
    body: InviteForm,
    check: async request => readNewcomer(request.body),
    code: request => request.body.code,
    change: (request, operator) => {
      const newcomer = readNewcomer(request.body);
      const make = () => addToTeam(operator, membershipOf(request), newcomer);
      return makeLinkOnce(request, deps, operator, make);
    },
    again: (request, fault) =>
      invitePage(texts(request), request.body, fault, frameOf(request, deps)),
    done: (request, link) => {
      const { shell, team } = texts(request);
      const { name, role } = request.body;
      return issuedLinkPage(request, deps, link, team.invite.done(name.trim(), shell.roles[role]));
    },
  });

  registerSteps(kind, app, deps);
}

/** @throws FieldRefused for an invalid name or e-mail address. */
function readNewcomer<T extends { readonly name: string; readonly email: string }>(fields: T): T {
  const name = parseName(fields.name.trim());
  if (name === undefined) throw new FieldRefused('name', 'name-invalid', { maximum: NAME_MAXIMUM });
  const email = parseEmail(fields.email.trim());
  if (email === undefined) throw new FieldRefused('email', 'email-invalid');
  return { ...fields, name, email };
}
