import { randomUUID } from 'node:crypto';
import { NAME_MAXIMUM, parseEmail, parseName } from '#accounts/input.ts';
import { FieldRefused } from '#accounts/people/refusals.ts';
import { addToTeam } from '#accounts/people/team.ts';
import type { TypedApp } from '#http/typed-app.ts';
import { membershipOf, withPermission } from '../hooks/access.ts';
import type { PanelDependencies } from '../hooks/dependencies.ts';
import { texts } from '../hooks/language.ts';
import { registerForm } from '../kit/form-route.ts';
import { PLACES } from '../kit/places.ts';
import { InviteForm, TEAM_ROLES, TeamQuery } from './forms.ts';
import { issuedLinkPage, makeLinkOnce } from './links.ts';
import { registerSteps } from './steps.ts';
import { invitePage, teamPage } from './views.ts';

/** The people who may enter an account. Admins and owners change the list; members of a merchant may see it. */
export function registerTeam(app: TypedApp, deps: PanelDependencies): void {
  for (const kind of ['merchant', 'partner'] as const) {
    const path = `/${kind}s/:accountId${PLACES[kind].team}`;

    app.get(path, withPermission(kind, 'team.read', { querystring: TeamQuery }), request =>
      teamPage(request, deps, request.query),
    );

    app.get(`${path}/invite`, withPermission(kind, 'team.manage'), request => {
      const [role] = TEAM_ROLES[kind];
      return invitePage(request, { name: '', email: '', role, intent: randomUUID() }, null);
    });

    registerForm(app, deps, `${path}/invite`, {
      rule: { for: kind, permission: 'team.manage' },
      body: InviteForm,
      check: async request => readNewcomer(request.body),
      code: request => request.body.code,
      change: (request, operator) => {
        const newcomer = readNewcomer(request.body);
        return makeLinkOnce(request, deps, operator, by =>
          addToTeam(by, membershipOf(request), newcomer),
        );
      },
      again: (request, fault) => invitePage(request, request.body, fault),
      done: (request, link) => {
        const { shell, team } = texts(request);
        const { name, role } = request.body;
        return issuedLinkPage(
          request,
          deps,
          link,
          team.invite.done(name.trim(), shell.roles[role]),
        );
      },
    });

    registerSteps(kind, app, deps);
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
