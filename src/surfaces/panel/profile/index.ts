import { type TProperties, Type } from '@sinclair/typebox';
import type { FastifyRequest } from 'fastify';
import { isCodeSecret, newCodeSecret } from '#accounts/people/codes.ts';
import {
  changeApp,
  changeEmail,
  changePassword,
  changeRecoveryCodes,
  type Proof,
} from '#accounts/people/profile.ts';
import { ApiError } from '#errors/api-error.ts';
import { EmptyForm } from '#http/page-validation.ts';
import type { TypedApp } from '#http/typed-app.ts';
import { Uuid } from '#schemas/scalars.ts';
import { listRecoveryCodes } from '#storage/repositories/people/people.ts';
import {
  deleteSession,
  deleteSessionsOf,
  listSessions,
} from '#storage/repositories/people/sessions.ts';
import { basePathOf } from '../../pages/base-path.ts';
import { FOR_PERSON, FOR_PERSON_LATELY, sessionOf } from '../hooks/access.ts';
import type { PanelDependencies } from '../hooks/dependencies.ts';
import { PANEL_PREFIX } from '../kit/assets.ts';
import { renderClosedCodes } from '../kit/closed-codes.ts';
import { recoveryCodesPage } from '../kit/credentials.ts';
import type { PanelPage } from '../kit/document.ts';
import { faultOf } from '../kit/failures.ts';
import type { FormFault } from '../kit/form.ts';
import { proverOf } from '../kit/fresh-factor.ts';
import { type PageOrRedirect, redirectTo } from '../kit/pages.ts';
import { texts } from '../texts/index.ts';
import { type ProfileForm, type ProfileFormParts, profileFormPage, profilePage } from './views.ts';

const PROFILE = '/profile';
const FORMS: readonly ProfileForm[] = ['email', 'password', 'app', 'recovery-codes'];

const SessionParams = Type.Object({ id: Uuid('ID of the session.') });

/** What each change asks for. */
const proof = { password: Type.String(), code: Type.String() };

/** What a form is shown again with. */
type Sent = Partial<Pick<ProfileFormParts, 'email' | 'secret'>>;

/** What somebody signs in with, and their sessions. */
export function registerProfile(app: TypedApp, deps: PanelDependencies): void {
  const { clock, db, limits, panelUrl, sendsMail } = deps;
  const basePath = basePathOf(panelUrl);
  const own = PANEL_PREFIX + PROFILE;
  const form = <T extends TProperties>(fields: T) => ({
    ...FOR_PERSON,
    schema: { body: Type.Object({ ...fields, ...proof }) },
  });

  app.get(PROFILE, FOR_PERSON, async request => {
    const { session, person } = sessionOf(request);
    const [sessions, codes] = await Promise.all([
      listSessions(db, person.id),
      listRecoveryCodes(db, person.id),
    ]);
    return profilePage({
      basePath,
      person,
      sessions,
      ownSession: session.id,
      recoveryCodesLeft: codes.length,
      notice: renderClosedCodes(texts, person, new Date(clock()), basePath),
      sendsMail,
    });
  });

  for (const name of FORMS) {
    app.get(`${PROFILE}/${name}`, FOR_PERSON, request => {
      refuseDemo(request);
      return show(name, null);
    });
  }

  app.post(`${PROFILE}/email`, form({ email: Type.String() }), request => {
    const { email, ...given } = request.body;
    return change(request, 'email', { email }, who =>
      changeEmail(deps, { ...who, ...given }, email),
    );
  });

  app.post(`${PROFILE}/password`, form({ 'new-password': Type.String() }), request => {
    const { 'new-password': password, ...given } = request.body;
    return change(request, 'password', {}, who =>
      changePassword(deps, { ...who, ...given }, password),
    );
  });

  const appForm = form({ secret: Type.String(), 'new-code': Type.String() });
  app.post(`${PROFILE}/app`, appForm, request => {
    const { secret, 'new-code': code, ...given } = request.body;
    return change(request, 'app', { secret }, who =>
      changeApp(deps, { ...who, ...given }, { secret, code }),
    );
  });

  app.post(`${PROFILE}/recovery-codes`, form({}), request =>
    change(request, 'recovery-codes', {}, who =>
      changeRecoveryCodes(deps, { ...who, ...request.body }),
    ),
  );

  const ending = { ...FOR_PERSON_LATELY, schema: { params: SessionParams, body: EmptyForm } };
  app.post(`${PROFILE}/sessions/:id/end`, ending, async request => {
    const ended = await deleteSession(db, sessionOf(request).person.id, request.params.id);
    if (!ended) throw new ApiError('E3001');
    return redirectTo(own);
  });

  // Requires a recent second factor: a stolen session must not be enough to end the person's other sessions.
  const endingOthers = { ...FOR_PERSON_LATELY, schema: { body: EmptyForm } };
  app.post(`${PROFILE}/sessions/end-others`, endingOthers, async request => {
    const { session, person } = sessionOf(request);
    await deleteSessionsOf(db, person.id, session.id);
    return redirectTo(own);
  });

  /**
   * Makes a change; if it is refused, shows the form again with the reason.
   * @param sent What the form is shown again with.
   * @param perform Returns the new recovery codes, if there are any.
   */
  async function change(
    request: FastifyRequest,
    form: ProfileForm,
    sent: Sent,
    perform: (who: Omit<Proof, 'password' | 'code'>) => Promise<readonly string[]>,
  ): Promise<PageOrRedirect> {
    refuseDemo(request);
    await limits.countSignIn(request);
    try {
      const codes = await perform(proverOf(request));
      return codes.length === 0 ? redirectTo(own) : recoveryCodesPage(texts, codes, basePath + own);
    } catch (error) {
      return show(form, faultOf(error, request), sent);
    }
  }

  function show(
    form: ProfileForm,
    fault: FormFault | null,
    { email = '', secret: sent = '' }: Sent = {},
  ): PanelPage {
    const secret = isCodeSecret(sent) ? sent : newCodeSecret();
    return profileFormPage(basePath, form, { email, secret, fault });
  }
}

/** A person of the demo has nothing to sign in with. */
function refuseDemo(request: FastifyRequest): void {
  if (sessionOf(request).person.is_demo) throw new ApiError('E3001');
}
