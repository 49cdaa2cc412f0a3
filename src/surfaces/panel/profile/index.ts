import { type Static, Type } from '@sinclair/typebox';
import type { FastifyRequest } from 'fastify';
import { askAgain } from '#accounts/people/confirm-email.ts';
import {
  changeApp,
  changeEmail,
  changePassword,
  changeRecoveryCodes,
  type Proof,
} from '#accounts/people/profile.ts';
import { ApiError } from '#errors/api-error.ts';
import type { TypedApp } from '#http/typed-app.ts';
import { StringEnum, Uuid } from '#schemas/scalars.ts';
import { updatePerson } from '#storage/repositories/people/people.ts';
import { deleteSession, deleteSessionsOf } from '#storage/repositories/people/sessions.ts';
import { FOR_PERSON, sessionOf, visitOf } from '../hooks/access.ts';
import type { PanelDependencies } from '../hooks/dependencies.ts';
import { texts, textsFor } from '../hooks/language.ts';
import { recoveryCodesPage } from '../kit/credentials.ts';
import type { FormFault } from '../kit/form.ts';
import { registerForm } from '../kit/form-route.ts';
import { proverOf } from '../kit/fresh-factor.ts';
import { redirectTo } from '../kit/pages.ts';
import { PROFILE } from '../kit/places.ts';
import { LANGUAGE_TAGS } from '../texts/languages.ts';
import { type ProfileForm, profileFormPage, profilePage } from './views.ts';

/** Below the panel. */
const PATH = '/profile';
const SessionParams = Type.Object({ id: Uuid('ID of the session.') });
const LanguageForm = Type.Object({
  language: StringEnum(['', ...LANGUAGE_TAGS], 'A language; empty for that of the browser.'),
});

const field = Type.String({ default: '' });
/** Each form has some of these fields, and all have the two that prove who sends it. */
const ProfileFields = Type.Object({
  email: field,
  'new-password': field,
  secret: field,
  'new-code': field,
  password: Type.String(),
  code: Type.String(),
});
type Fields = Static<typeof ProfileFields>;

/** Each returns the new recovery codes, if there are any. */
const CHANGES: Readonly<
  Record<ProfileForm, (deps: PanelDependencies, proof: Proof, sent: Fields) => Promise<string[]>>
> = {
  email: (deps, proof, { email }) => changeEmail(deps, proof, email),
  password: (deps, proof, { 'new-password': password }) => changePassword(deps, proof, password),
  app: (deps, proof, { secret, 'new-code': code }) => changeApp(deps, proof, { secret, code }),
  'recovery-codes': (deps, proof) => changeRecoveryCodes(deps, proof),
};

/** What somebody signs in with, and their sessions. */
export function registerProfile(app: TypedApp, deps: PanelDependencies): void {
  const { db, limits, sendsMail } = deps;
  const show = (request: FastifyRequest, fault: FormFault | null) =>
    profilePage(request, deps, fault);
  const rule = { for: 'person' } as const;
  // A stolen session must not be enough to end the person's other sessions.
  const lately = { ...rule, recent: true } as const;

  app.get(PATH, FOR_PERSON, request => show(request, null));

  for (const form of Object.keys(CHANGES) as ProfileForm[]) {
    app.get(`${PATH}/${form}`, FOR_PERSON, request => {
      refuseDemo(request);
      return profileFormPage(request, deps, form, null);
    });

    registerForm(app, deps, `${PATH}/${form}`, {
      rule,
      body: ProfileFields,
      async change(request) {
        refuseDemo(request);
        await limits.countSignIn(request);
        const { password, code } = request.body;
        return CHANGES[form](deps, { ...proverOf(request), password, code }, request.body);
      },
      again: (request, fault) => profileFormPage(request, deps, form, fault, request.body),
      done(request, codes) {
        const words = texts(request);
        const { changed, emailAsked } = words.profile;
        const { email_confirmed_at: confirmedAt } = sessionOf(request).person;
        const asked = confirmedAt === null ? words.join.email.asked : emailAsked;
        const isAsked = form === 'email' && sendsMail;
        const notice = isAsked ? asked(request.body.email.trim()) : changed[form];
        return codes.length === 0
          ? redirectTo(PROFILE, notice)
          : recoveryCodesPage(words, codes, request.basePath + PROFILE, notice);
      },
    });
  }

  registerForm(app, deps, `${PATH}/email/send`, {
    rule,
    async change(request) {
      if (!sendsMail) throw new ApiError('E3001');
      await limits.countSignIn(request);
      const { visitor } = visitOf(request);
      return askAgain(deps, sessionOf(request).person.id, visitor.address);
    },
    again: show,
    done(request, isAsked) {
      const { asked, confirmed } = texts(request).join.email;
      const { email } = sessionOf(request).person;
      return redirectTo(PROFILE, isAsked ? asked(email) : confirmed(email));
    },
  });

  registerForm(app, deps, `${PATH}/sessions/:id/end`, {
    rule: lately,
    params: SessionParams,
    async change(request) {
      const ended = await deleteSession(db, {
        person_id: sessionOf(request).person.id,
        id: request.params.id,
      });
      if (!ended) throw new ApiError('E3001');
    },
    again: show,
    done: request => redirectTo(PROFILE, texts(request).profile.sessions.ended),
  });

  registerForm(app, deps, `${PATH}/sessions/end-others`, {
    rule: lately,
    change: request => {
      const { session, person } = sessionOf(request);
      return deleteSessionsOf(db, person.id, session.id);
    },
    again: show,
    done: (request, ended) =>
      redirectTo(PROFILE, texts(request).profile.sessions.othersEnded(ended)),
  });

  registerForm(app, deps, `${PATH}/language`, {
    rule,
    body: LanguageForm,
    change: request => {
      const language = request.body.language || null;
      return updatePerson(db, sessionOf(request).person.id, { language });
    },
    again: show,
    done(request, { language }) {
      const { changed, changedByBrowser } = textsFor(request, language).profile.language;
      return redirectTo(PROFILE, language === null ? changedByBrowser : changed);
    },
  });
}

/** A person of the demo has nothing to sign in with. */
function refuseDemo(request: FastifyRequest): void {
  if (sessionOf(request).person.is_demo) throw new ApiError('E3001');
}
