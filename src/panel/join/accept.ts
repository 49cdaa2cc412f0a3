import { type Static, Type } from '@sinclair/typebox';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { hashToken, isToken } from '../../crypto/token.ts';
import { EmptyForm } from '../../http/page-validation.ts';
import type { TypedApp } from '../../http/typed-app.ts';
import { basePathOf } from '../../pages/base-path.ts';
import { PANEL_PREFIX } from '../assets.ts';
import type { PanelDependencies } from '../dependencies.ts';
import type { FormFault } from '../form.ts';
import { sessionOf, visitOf } from '../hooks/access.ts';
import { accountPath } from '../navigation.ts';
import { leadTo, sendPage } from '../pages.ts';
import { findOpenLink, JOIN_PATH } from '../people/invitations.ts';
import { findInvited, joinAsPerson } from '../people/join.ts';
import { FieldRefused, LinkEnded } from '../people/refusals.ts';
import { acceptPage, ENDED_PAGE } from './views.ts';

/** Where an invitation is continued by somebody who has signed in for it, below the panel. */
export const INVITATION = '/invitation';

/** Of whatever form: a link that was not copied whole has ended. */
const LinkParams = Type.Object({ token: Type.Optional(Type.String()) });

type LinkRequest = FastifyRequest & { params: Static<typeof LinkParams> };

/** Accepting an invitation as somebody who has signed in: with its link, or with a session that was begun for it. */
export function registerAccept(app: TypedApp, deps: PanelDependencies): void {
  const person = { config: { panel: { for: 'person' } } } as const;

  const params = LinkParams;

  app.get(INVITATION, { ...person, schema: { params } }, (request, reply) =>
    showInvitation(request, reply, deps, null),
  );

  for (const path of [INVITATION, '/join/:token/accept']) {
    const schema = { params, body: EmptyForm };
    app.post(path, { ...person, schema }, async (request, reply) => {
      const tokenHash = tokenHashOf(request);
      if (tokenHash === null) return sendPage(request, reply, deps, ENDED_PAGE, 404);
      const { person: own } = sessionOf(request);
      const { address } = visitOf(request).visitor;
      try {
        const invited = await joinAsPerson(deps, tokenHash, own.id, address);
        return leadTo(reply, deps.panelUrl, accountPath(invited));
      } catch (error) {
        if (error instanceof LinkEnded) return sendPage(request, reply, deps, ENDED_PAGE, 404);
        if (!(error instanceof FieldRefused)) throw error;
        const { field, message } = error;
        return showInvitation(request, reply, deps, { field, message });
      }
    });
  }
}

/** Shows an invitation to somebody who has signed in. */
export async function showInvitation(
  request: LinkRequest,
  reply: FastifyReply,
  deps: PanelDependencies,
  fault: FormFault | null,
): Promise<FastifyReply> {
  const { clock, db, panelUrl } = deps;
  const tokenHash = tokenHashOf(request);
  const link =
    tokenHash === null ? undefined : await findOpenLink(db, tokenHash, new Date(clock()));
  const invited = link && (await findInvited(db, link));
  if (link === undefined || invited === undefined) {
    return sendPage(request, reply, deps, ENDED_PAGE, 404);
  }
  const { token } = request.params;
  const page = acceptPage({
    ...{ basePath: basePathOf(panelUrl), fault, invited },
    action: token === undefined ? PANEL_PREFIX + INVITATION : `${JOIN_PATH}/${token}/accept`,
    person: sessionOf(request).person,
  });
  return sendPage(request, reply, deps, page, fault === null ? 200 : 422);
}

/** Of the link in the path; else of the one that the session was begun for. */
function tokenHashOf(request: LinkRequest): Buffer | null {
  const { token } = request.params;
  if (token === undefined) return sessionOf(request).session.link_hash;
  return isToken(token) ? hashToken(token) : null;
}
