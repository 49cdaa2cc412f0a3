import { type TProperties, Type } from '@sinclair/typebox';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { Uuid } from '#schemas/scalars.ts';
import { parseEmail } from '../../accounts/input.ts';
import { isUniqueViolation } from '../../database/errors.ts';
import { ApiError } from '../../errors/api-error.ts';
import { EmptyForm } from '../../http/page-validation.ts';
import type { TypedApp } from '../../http/typed-app.ts';
import { basePathOf } from '../../pages/base-path.ts';
import { listRecoveryCodes } from '../../repositories/people/people.ts';
import {
  deleteSession,
  deleteSessionsOf,
  listSessions,
} from '../../repositories/people/sessions.ts';
import { PANEL_PREFIX } from '../assets.ts';
import { renderClosedCodes } from '../closed-codes.ts';
import type { PanelDependencies } from '../dependencies.ts';
import { logClosed } from '../failures.ts';
import type { FormFault } from '../form.ts';
import { sessionOf, visitOf } from '../hooks/access.ts';
import { recoveryCodesPage } from '../join/views.ts';
import { leadTo, sendPage } from '../pages.ts';
import { isCodeSecret, newCodeSecret } from '../people/codes.ts';
import type { OpenSession, Visitor } from '../people/panel-sessions.ts';
import { changeApp, changeEmail, changePassword, changeRecoveryCodes } from '../people/profile.ts';
import { FieldRefused } from '../people/refusals.ts';
import { type ProfileForm, profileFormPage, profilePage } from './views.ts';

const PROFILE = '/profile';
const FORMS: readonly ProfileForm[] = ['email', 'password', 'app', 'recovery-codes'];

const SessionParams = Type.Object({ id: Uuid('ID of the session.') });

/** What each change asks for. */
const proof = { password: Type.String(), code: Type.String() };

/** What a form is shown again with. */
interface Sent {
  readonly email?: string;
  readonly secret?: string;
}

/** What somebody signs in with, and their sessions. */
export function registerProfile(app: TypedApp, deps: PanelDependencies): void {
  const { clock, db, keyring, limits, panelUrl } = deps;
  const people = { db, keyring, clock };
  const basePath = basePathOf(panelUrl);
  const person = { config: { panel: { for: 'person' } } } as const;
  const form = <T extends TProperties>(fields: T) => ({
    ...person,
    schema: { body: Type.Object(fields) },
  });

  app.get(PROFILE, person, async (request, reply) => {
    const { session, person: own } = sessionOf(request);
    const [sessions, codes] = await Promise.all([
      listSessions(db, own.id),
      listRecoveryCodes(db, own.id),
    ]);
    const page = profilePage({
      ...{ basePath, sessions, ownSession: session.id, recoveryCodesLeft: codes.length },
      person: { ...own, isDemo: own.is_demo },
      notice: renderClosedCodes(own, new Date(clock()), basePath),
    });
    return sendPage(request, reply, deps, page);
  });

  for (const name of FORMS) {
    app.get(`${PROFILE}/${name}`, person, (request, reply) => {
      refuseDemo(request);
      return show(request, reply, name, null);
    });
  }

  app.post(`${PROFILE}/email`, form({ email: Type.String(), ...proof }), (request, reply) => {
    const { email: sent, ...given } = request.body;
    return change(request, reply, 'email', { email: sent }, async who => {
      const email = parseEmail(sent.trim());
      if (email === undefined) {
        throw new FieldRefused('email', 'This is no e-mail address, such as ada@example.com.');
      }
      await changeEmail(people, { ...who, ...given }, email);
      return [];
    });
  });

  app.post(
    `${PROFILE}/password`,
    form({ 'new-password': Type.String(), ...proof }),
    (request, reply) => {
      const { 'new-password': password, ...given } = request.body;
      return change(request, reply, 'password', {}, async who => {
        await changePassword(people, { ...who, ...given }, password);
        return [];
      });
    },
  );

  app.post(
    `${PROFILE}/app`,
    form({ secret: Type.String(), 'new-code': Type.String(), ...proof }),
    (request, reply) => {
      const { secret, 'new-code': code, ...given } = request.body;
      return change(request, reply, 'app', { secret }, who =>
        changeApp(people, { ...who, ...given }, { secret, code }),
      );
    },
  );

  app.post(`${PROFILE}/recovery-codes`, form(proof), (request, reply) =>
    change(request, reply, 'recovery-codes', {}, who =>
      changeRecoveryCodes(people, { ...who, ...request.body }),
    ),
  );

  const ending = { ...person, schema: { params: SessionParams, body: EmptyForm } };
  app.post(`${PROFILE}/sessions/:id/end`, ending, async (request, reply) => {
    const ended = await deleteSession(db, sessionOf(request).person.id, request.params.id);
    if (!ended) throw new ApiError('E3001');
    return leadTo(reply, panelUrl, PANEL_PREFIX + PROFILE);
  });

  app.post(`${PROFILE}/sessions/end-others`, form({}), async (request, reply) => {
    const { session, person: own } = sessionOf(request);
    await deleteSessionsOf(db, own.id, session.id);
    return leadTo(reply, panelUrl, PANEL_PREFIX + PROFILE);
  });

  /**
   * Makes a change; where it is refused, the form again with the reason.
   * @param sent What the form is shown again with.
   * @param perform Answers with the recovery codes that are new.
   */
  async function change(
    request: FastifyRequest,
    reply: FastifyReply,
    form: ProfileForm,
    sent: Sent,
    perform: (who: OpenSession & { visitor: Visitor }) => Promise<readonly string[]>,
  ): Promise<FastifyReply> {
    refuseDemo(request);
    await limits.countSignIn(request);
    try {
      const codes = await perform({ ...sessionOf(request), visitor: visitOf(request).visitor });
      const own = PANEL_PREFIX + PROFILE;
      if (codes.length === 0) return leadTo(reply, panelUrl, own);
      return sendPage(request, reply, deps, recoveryCodesPage(codes, basePath + own));
    } catch (error) {
      logClosed(error, request);
      const fault = faultOf(error);
      if (fault === undefined) throw error;
      return show(request, reply, form, fault, sent);
    }
  }

  function show(
    request: FastifyRequest,
    reply: FastifyReply,
    form: ProfileForm,
    fault: FormFault | null,
    { email = '', secret: sent = '' }: Sent = {},
  ): FastifyReply {
    const secret = isCodeSecret(sent) ? sent : newCodeSecret();
    const page = profileFormPage(form, { basePath, email, secret, fault });
    return sendPage(request, reply, deps, page, fault === null ? 200 : 422);
  }
}

/** Somebody in the demo has nothing to sign in with. */
function refuseDemo(request: FastifyRequest): void {
  if (sessionOf(request).person.is_demo) throw new ApiError('E3001');
}

function faultOf(error: unknown): FormFault | undefined {
  if (error instanceof FieldRefused) return { field: error.field, message: error.message };
  if (!isUniqueViolation(error)) return undefined;
  return { field: 'email', message: 'Somebody signs in with this e-mail already.' };
}
