import { type Static, Type } from '@sinclair/typebox';
import type { FastifyRequest } from 'fastify';
import { findOpenLink, JOIN_PATH } from '#accounts/people/invitations.ts';
import { findInvited, joinAsPerson } from '#accounts/people/join.ts';
import { LinkEnded } from '#accounts/people/refusals.ts';
import { hashToken, isToken } from '#crypto/token.ts';
import type { TypedApp } from '#http/typed-app.ts';
import { FOR_PERSON, sessionOf, visitOf } from '../hooks/access.ts';
import type { PanelDependencies } from '../hooks/dependencies.ts';
import { texts } from '../hooks/language.ts';
import { PANEL_PREFIX } from '../kit/assets.ts';
import type { PanelPage } from '../kit/document.ts';
import type { FormFault } from '../kit/form.ts';
import { registerForm } from '../kit/form-route.ts';
import { accountPath } from '../kit/navigation.ts';
import { redirectTo } from '../kit/pages.ts';
import { INVITATION } from '../kit/places.ts';
import { acceptPage } from './views.ts';

/** Accepts any text, so that the page can say that an incomplete link does not work. */
const params = Type.Object({ token: Type.Optional(Type.String()) });

type InvitedRequest = FastifyRequest & { params: Static<typeof params> };

/** Accepting an invitation after signing in: by its link, or in a session that was begun for it. */
export function registerAccept(app: TypedApp, deps: PanelDependencies): void {
  app.get(INVITATION, { ...FOR_PERSON, schema: { params } }, request =>
    showInvitation(request, deps, null),
  );

  for (const path of [INVITATION, '/join/:token/accept']) {
    registerForm(app, deps, path, {
      rule: { for: 'person' },
      params,
      change: async request => {
        const { visitor } = visitOf(request);
        const { session } = sessionOf(request);
        return joinAsPerson(deps, tokenHashOf(request), session, visitor.address);
      },
      again: (request, fault) => showInvitation(request, deps, fault),
      done: (request, invited) => {
        const { accepted } = texts(request).join.acceptance;
        return redirectTo(accountPath(invited), accepted(invited.accountName));
      },
    });
  }
}

/**
 * Shows an invitation to somebody who has signed in.
 * @throws LinkEnded
 */
export async function showInvitation(
  request: InvitedRequest,
  { clock, db }: PanelDependencies,
  fault: FormFault | null,
): Promise<PanelPage> {
  const invitation = await findOpenLink(db, tokenHashOf(request), new Date(clock()));
  const invited = invitation && (await findInvited(db, invitation));
  if (invited === undefined) throw new LinkEnded();
  const { token } = request.params;
  const path = token === undefined ? PANEL_PREFIX + INVITATION : `${JOIN_PATH}/${token}/accept`;
  const action = request.basePath + path;
  return acceptPage(texts(request), action, invited, sessionOf(request).person, fault);
}

/** The hash of the token in the path; without one, of the invitation that the session was begun for. */
function tokenHashOf(request: InvitedRequest): Buffer {
  const { token } = request.params;
  const { link_hash: remembered } = sessionOf(request).session;
  if (token === undefined && remembered !== null) return remembered;
  if (token === undefined || !isToken(token)) throw new LinkEnded();
  return hashToken(token);
}
