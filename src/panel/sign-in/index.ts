import { type Static, Type } from '@sinclair/typebox';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { hashToken, TOKEN } from '../../crypto/token.ts';
import { EmptyForm } from '../../http/page-validation.ts';
import type { TypedApp } from '../../http/typed-app.ts';
import { basePathOf } from '../../pages/base-path.ts';
import { deleteSession } from '../../repositories/people/sessions.ts';
import { PANEL_PREFIX } from '../assets.ts';
import type { PanelDependencies } from '../dependencies.ts';
import { logClosed } from '../failures.ts';
import type { FormFault } from '../form.ts';
import { sessionOf, visitOf } from '../hooks/access.ts';
import { INVITATION } from '../join/accept.ts';
import { NextQuery, readNext, withNext } from '../next.ts';
import { leadTo, sendPage } from '../pages.ts';
import { JOIN_PATH } from '../people/invitations.ts';
import { WrongProof } from '../people/refusals.ts';
import { confirm, confirmDemo } from '../people/second-factor.ts';
import { signIn } from '../people/sign-in.ts';
import { codePage, confirmPage, signInPage } from './views.ts';

const SIGN_IN = '/sign-in';
/** Signing in to accept the invitation of a link, which the session remembers. */
const SIGN_IN_TO_JOIN = '/join/:token/sign-in';
const CODE = '/sign-in/code';
const CONFIRM = '/confirm';

const LinkParams = Type.Object({ token: Type.Optional(Type.String({ pattern: TOKEN.source })) });
const PasswordForm = Type.Object({ email: Type.String(), password: Type.String() });
const CodeForm = Type.Object({ code: Type.String() });
/** The demo has a button alone. */
const ConfirmForm = Type.Partial(CodeForm);

type LeadingRequest = FastifyRequest & { query: Static<typeof NextQuery> };
type SignInRequest = LeadingRequest & { params: Static<typeof LinkParams> };

/** One text for whatever is wrong, so that nobody learns who signs in here. */
const REFUSED =
  'E-mail or password are not right, or there were too many attempts. Try again, after a quarter of an hour if it stays.';

/** Signing in with password and code, giving a code again, and signing out. */
export function registerSignIn(app: TypedApp, deps: PanelDependencies): void {
  const { cookies, db, limits, panelUrl } = deps;
  const basePath = basePathOf(panelUrl);
  const anybody = { config: { panel: { for: 'anybody' } } } as const;
  const half = { config: { panel: { for: 'half-signed-in' } } } as const;
  const person = { config: { panel: { for: 'person' } } } as const;
  const leading = { querystring: NextQuery };
  const nextOf = ({ query }: LeadingRequest) => readNext(query.next);

  for (const path of [SIGN_IN, SIGN_IN_TO_JOIN]) {
    const schema = { ...leading, params: LinkParams };
    app.get(path, { ...anybody, schema }, (request, reply) => {
      if (visitOf(request).session?.isComplete) return leadTo(reply, panelUrl, afterwards(request));
      return show(request, reply, { fault: null, email: '' });
    });
    const post = { ...anybody, schema: { ...schema, body: PasswordForm } };
    app.post(path, post, (request, reply) => takePassword(request, reply, request.body));
  }

  /** Where somebody goes who has signed in already. */
  function afterwards(request: SignInRequest): string {
    const { token } = request.params;
    return token === undefined ? nextOf(request) : `${JOIN_PATH}/${token}`;
  }

  function show(
    request: SignInRequest,
    reply: FastifyReply,
    { fault, email }: { fault: FormFault | null; email: string },
  ): FastifyReply {
    const { token } = request.params;
    const action =
      token === undefined
        ? withNext(PANEL_PREFIX + SIGN_IN, nextOf(request))
        : `${JOIN_PATH}/${token}/sign-in`;
    const page = signInPage({ action: basePath + action, fault, email });
    return sendPage(request, reply, deps, page, fault === null ? 200 : 422);
  }

  async function takePassword(
    request: SignInRequest,
    reply: FastifyReply,
    { email, password }: Static<typeof PasswordForm>,
  ): Promise<FastifyReply> {
    await limits.countSignIn(request);
    const { token: link } = request.params;
    const linkHash = link === undefined ? null : hashToken(link);
    const before = visitOf(request).session;
    const replacedId =
      before?.isComplete === true ? before.session.id : (before?.session.replaced_id ?? null);
    const typed = { email: email.trim(), password, linkHash, replacedId };
    const token = await signIn(deps, typed, visitOf(request).visitor);
    if (token === undefined) {
      return show(request, reply, { fault: { field: null, message: REFUSED }, email });
    }
    // One that waits for its code is of no use any more; a complete one must not end by a password alone,
    // but by the second factor that follows.
    if (before?.isComplete === false) await endSession(request);
    cookies.setSession(reply, token);
    return leadTo(reply, panelUrl, withNext(PANEL_PREFIX + CODE, nextOf(request)));
  }

  app.get(CODE, { ...half, schema: leading }, (request, reply) =>
    sendPage(request, reply, deps, codePage({ basePath, next: nextOf(request), fault: null })),
  );

  const codeSchema = { ...leading, body: CodeForm };
  app.post(CODE, { ...half, schema: codeSchema }, async (request, reply) => {
    await limits.countSignIn(request);
    return takeCode(request, reply, request.body.code, fault =>
      sendPage(request, reply, deps, codePage({ basePath, next: nextOf(request), fault }), 422),
    );
  });

  app.get(CONFIRM, { ...person, schema: leading }, (request, reply) => {
    const { is_demo: isDemo } = sessionOf(request).person;
    const page = confirmPage({ basePath, next: nextOf(request), fault: null, isDemo });
    return sendPage(request, reply, deps, page);
  });

  const confirmSchema = { ...leading, body: ConfirmForm };
  app.post(CONFIRM, { ...person, schema: confirmSchema }, async (request, reply) => {
    const { session, person: own } = sessionOf(request);
    const next = nextOf(request);
    if (own.is_demo) {
      cookies.setSession(reply, await confirmDemo(deps, session));
      return leadTo(reply, panelUrl, next);
    }
    await limits.countSignIn(request);
    return takeCode(request, reply, request.body.code ?? '', fault => {
      const page = confirmPage({ basePath, next, fault, isDemo: false });
      return sendPage(request, reply, deps, page, 422);
    });
  });

  app.post('/sign-out', { ...anybody, schema: { body: EmptyForm } }, async (request, reply) => {
    await endSession(request);
    cookies.clearSession(reply);
    return leadTo(reply, panelUrl, PANEL_PREFIX + SIGN_IN);
  });

  async function endSession(request: FastifyRequest): Promise<void> {
    const session = visitOf(request).session?.session;
    if (session !== undefined) await deleteSession(db, session.person_id, session.id);
  }

  async function takeCode(
    request: LeadingRequest,
    reply: FastifyReply,
    code: string,
    again: (fault: FormFault) => FastifyReply,
  ): Promise<FastifyReply> {
    try {
      const { visitor } = visitOf(request);
      const { session } = sessionOf(request);
      const { token, device } = await confirm(deps, sessionOf(request), code, visitor);
      cookies.setSession(reply, token);
      if (device !== null) cookies.setDevice(reply, device);
      const isForInvitation = session.second_factor_at === null && session.link_hash !== null;
      const path = isForInvitation ? PANEL_PREFIX + INVITATION : nextOf(request);
      return leadTo(reply, panelUrl, path);
    } catch (error) {
      if (!(error instanceof WrongProof)) throw error;
      logClosed(error, request);
      return again({ field: error.field, message: error.message });
    }
  }
}
