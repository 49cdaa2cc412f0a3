import { type Static, Type } from '@sinclair/typebox';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { JOIN_PATH } from '#accounts/people/invitations.ts';
import { confirm } from '#accounts/people/second-factor.ts';
import { signIn } from '#accounts/people/sign-in.ts';
import { hashToken, TOKEN } from '#crypto/token.ts';
import { EmptyForm } from '#http/page-validation.ts';
import type { TypedApp } from '#http/typed-app.ts';
import { deleteSession } from '#storage/repositories/people/sessions.ts';
import { FOR_ANYBODY, FOR_HALF_SIGNED_IN, sessionOf, visitOf } from '../hooks/access.ts';
import type { PanelDependencies } from '../hooks/dependencies.ts';
import { texts } from '../hooks/language.ts';
import { logOwner, logRefusal } from '../hooks/log-fields.ts';
import { PANEL_PREFIX } from '../kit/assets.ts';
import { faultOf } from '../kit/failures.ts';
import type { FormFault } from '../kit/form.ts';
import { proverOf } from '../kit/fresh-factor.ts';
import { NextQuery, readNext, withNext } from '../kit/next.ts';
import { type PageOrRedirect, redirectTo } from '../kit/pages.ts';
import { INVITATION } from '../kit/places.ts';
import { registerForgotten } from './forgotten.ts';
import { codePage, signInPage } from './views.ts';

const SIGN_IN = '/sign-in';
/** Signing in to accept an invitation, which the session remembers. */
const SIGN_IN_TO_JOIN = '/join/:token/sign-in';
const CODE = '/sign-in/code';

/** The token of an invitation, if there is one. */
const params = Type.Object({ token: Type.Optional(Type.String({ pattern: TOKEN.source })) });
const PasswordForm = Type.Object({ email: Type.String(), password: Type.String() });
const CodeForm = Type.Object({ code: Type.String() });

type LeadingRequest = FastifyRequest & { query: Static<typeof NextQuery> };
type SignInRequest = LeadingRequest & { params: Static<typeof params> };

/** Signing in with password and code, and signing out. */
export function registerSignIn(app: TypedApp, deps: PanelDependencies): void {
  const { cookies, db, limits } = deps;
  const leading = { querystring: NextQuery };
  const nextOf = ({ query }: LeadingRequest) => readNext(query.next);

  for (const path of [SIGN_IN, SIGN_IN_TO_JOIN]) {
    const schema = { ...leading, params };
    app.get(path, { ...FOR_ANYBODY, schema }, request => {
      if (!visitOf(request).session?.isComplete) return show(request, '', null);
      const { token } = request.params;
      return redirectTo(token === undefined ? nextOf(request) : `${JOIN_PATH}/${token}`);
    });
    const post = { ...FOR_ANYBODY, schema: { ...schema, body: PasswordForm } };
    app.post(path, post, (request, reply) => takePassword(request, reply, request.body));
  }

  function show(request: SignInRequest, email: string, fault: FormFault | null) {
    const { token } = request.params;
    const action =
      token === undefined
        ? withNext(PANEL_PREFIX + SIGN_IN, nextOf(request))
        : `${JOIN_PATH}/${token}/sign-in`;
    return signInPage(request, deps, action, email, fault);
  }

  async function takePassword(
    request: SignInRequest,
    reply: FastifyReply,
    { email, password }: Static<typeof PasswordForm>,
  ): Promise<PageOrRedirect> {
    await limits.countSignIn(request);
    const { token: invitation } = request.params;
    const invitationHash = invitation === undefined ? null : hashToken(invitation);
    const { session: before, visitor } = visitOf(request);
    const replacedId =
      before?.isComplete === true ? before.session.id : (before?.session.replaced_id ?? null);
    const typed = { email: email.trim(), password, invitationHash, replacedId };
    const signedIn = await signIn(deps, typed, visitor);
    const { token, personId } = signedIn;
    if (personId !== undefined) logOwner(request, { personId });
    if (token === undefined) {
      logRefusal(request, signedIn.refusal);
      return show(request, email, { field: null, message: texts(request).signIn.refused });
    }
    // A former session that still waits for its code is replaced now. A complete one must not end by a password
    // alone: it ends once the second factor is given.
    if (before?.isComplete === false) await endSession(request);
    cookies.setSession(reply, token);
    return redirectTo(withNext(PANEL_PREFIX + CODE, nextOf(request)));
  }

  registerForgotten(app, deps);

  app.get(CODE, { ...FOR_HALF_SIGNED_IN, schema: leading }, request =>
    codePage(request, nextOf(request), null),
  );

  const codeSchema = { ...leading, body: CodeForm };
  app.post(CODE, { ...FOR_HALF_SIGNED_IN, schema: codeSchema }, async (request, reply) => {
    await limits.countSignIn(request);
    const { link_hash: invitationHash } = sessionOf(request).session;
    try {
      const device = await confirm(deps, proverOf(request), request.body.code);
      if (device !== null) cookies.setDevice(reply, device);
    } catch (error) {
      return codePage(request, nextOf(request), faultOf(error, request));
    }
    return redirectTo(invitationHash === null ? nextOf(request) : PANEL_PREFIX + INVITATION);
  });

  app.post('/sign-out', { ...FOR_ANYBODY, schema: { body: EmptyForm } }, async (request, reply) => {
    // First, so that the browser drops the cookie even while the database refuses writes.
    cookies.clearSession(reply);
    await endSession(request);
    return redirectTo(PANEL_PREFIX + SIGN_IN, texts(request).signIn.signedOut);
  });

  async function endSession(request: FastifyRequest): Promise<void> {
    const session = visitOf(request).session?.session;
    if (session !== undefined) await deleteSession(db, session);
  }
}
