import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { UUID } from '#schemas/uuid.ts';
import { parseEmail } from '../../accounts/input.ts';
import { isUniqueViolation } from '../../database/errors.ts';
import { ApiError } from '../../errors/api-error.ts';
import { readFields } from '../../http/form-body.ts';
import { basePathOf } from '../../pages/base-path.ts';
import {
  deleteSession,
  deleteSessionsOf,
  listSessions,
} from '../../repositories/panel-sessions.ts';
import { listRecoveryCodes } from '../../repositories/people.ts';
import { PANEL_PREFIX } from '../assets.ts';
import { renderClosedCodes } from '../closed-codes.ts';
import type { PanelDependencies } from '../dependencies.ts';
import { logClosed } from '../failures.ts';
import type { FormFault } from '../form.ts';
import { sessionOf, visitOf } from '../hooks/access.ts';
import { recoveryCodesPage } from '../join/views.ts';
import { leadTo, sendPage } from '../pages.ts';
import { isCodeSecret, newCodeSecret } from '../people/codes.ts';
import { changeApp, changeEmail, changePassword, changeRecoveryCodes } from '../people/profile.ts';
import { FieldRefused } from '../people/refusals.ts';
import { type ProfileForm, profileFormPage, profilePage } from './views.ts';

const PROFILE = '/profile';
const FORMS: readonly ProfileForm[] = ['email', 'password', 'app', 'recovery-codes'];

/** What somebody signs in with, and their sessions. */
export function registerProfile(app: FastifyInstance, deps: PanelDependencies): void {
  const { clock, db, keyring, limits, panelUrl } = deps;
  const people = { db, keyring, clock };
  const basePath = basePathOf(panelUrl);
  const person = { config: { panel: { for: 'person' } } } as const;

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

  for (const form of FORMS) {
    app.get(`${PROFILE}/${form}`, person, (request, reply) => {
      refuseDemo(request);
      return show(request, reply, form, null);
    });
    app.post(`${PROFILE}/${form}`, person, async (request, reply) => {
      refuseDemo(request);
      await limits.countSignIn(request);
      return change(request, reply, form);
    });
  }

  app.post(`${PROFILE}/sessions/:id/end`, person, async (request, reply) => {
    const { id } = request.params as { id: string };
    const ended = UUID.test(id) && (await deleteSession(db, sessionOf(request).person.id, id));
    if (!ended) throw new ApiError('E3001');
    return leadTo(reply, panelUrl, PANEL_PREFIX + PROFILE);
  });

  app.post(`${PROFILE}/sessions/end-others`, person, async (request, reply) => {
    const { session, person: own } = sessionOf(request);
    await deleteSessionsOf(db, own.id, session.id);
    return leadTo(reply, panelUrl, PANEL_PREFIX + PROFILE);
  });

  async function change(
    request: FastifyRequest,
    reply: FastifyReply,
    form: ProfileForm,
  ): Promise<FastifyReply> {
    const who = { ...sessionOf(request), visitor: visitOf(request).visitor };
    let sent: { email?: string; secret?: string } = {};
    try {
      switch (form) {
        case 'email': {
          const fields = readFields(request, ['email', 'password', 'code']);
          sent = { email: fields.email };
          const email = parseEmail(fields.email.trim());
          if (email === undefined) {
            throw new FieldRefused('email', 'This is no e-mail address, such as ada@example.com.');
          }
          await changeEmail(people, { ...who, ...fields }, email);
          break;
        }
        case 'password': {
          const fields = readFields(request, ['new-password', 'password', 'code']);
          await changePassword(people, { ...who, ...fields }, fields['new-password']);
          break;
        }
        case 'app': {
          const fields = readFields(request, ['secret', 'new-code', 'password', 'code']);
          sent = { secret: fields.secret };
          const newApp = { secret: fields.secret, code: fields['new-code'] };
          const codes = await changeApp(people, { ...who, ...fields }, newApp);
          return showCodes(request, reply, codes);
        }
        case 'recovery-codes': {
          const proof = readFields(request, ['password', 'code']);
          const codes = await changeRecoveryCodes(people, { ...who, ...proof });
          return showCodes(request, reply, codes);
        }
      }
    } catch (error) {
      logClosed(error, request);
      const fault = faultOf(error);
      if (fault === undefined) throw error;
      return show(request, reply, form, fault, sent);
    }
    return leadTo(reply, panelUrl, PANEL_PREFIX + PROFILE);
  }

  function show(
    request: FastifyRequest,
    reply: FastifyReply,
    form: ProfileForm,
    fault: FormFault | null,
    { email = '', secret: sent = '' }: { email?: string; secret?: string } = {},
  ): FastifyReply {
    const secret = isCodeSecret(sent) ? sent : newCodeSecret();
    const page = profileFormPage(form, { basePath, email, secret, fault });
    return sendPage(request, reply, deps, page, fault === null ? 200 : 422);
  }

  function showCodes(
    request: FastifyRequest,
    reply: FastifyReply,
    codes: readonly string[],
  ): FastifyReply {
    const page = recoveryCodesPage(codes, `${basePath}${PANEL_PREFIX}${PROFILE}`);
    return sendPage(request, reply, deps, page);
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
