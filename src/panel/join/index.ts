import { type Static, Type } from '@sinclair/typebox';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { parseEmail } from '../../accounts/input.ts';
import { hashToken, isToken } from '../../crypto/token.ts';
import type { PanelLink } from '../../database/people-tables.ts';
import type { TypedApp } from '../../http/typed-app.ts';
import { basePathOf } from '../../pages/base-path.ts';
import { PANEL_PREFIX } from '../assets.ts';
import type { PanelDependencies } from '../dependencies.ts';
import type { FormFault } from '../form.ts';
import { visitOf } from '../hooks/access.ts';
import { accountPath } from '../navigation.ts';
import { leadTo, sendPage } from '../pages.ts';
import { isCodeSecret, newCodeSecret } from '../people/codes.ts';
import { findOpenLink } from '../people/invitations.ts';
import { findInvited, joinAsNew, joinDemo, renewFactors } from '../people/join.ts';
import { FieldRefused, LinkEnded } from '../people/refusals.ts';
import { registerAccept, showInvitation } from './accept.ts';
import { demoPage, ENDED_PAGE, invitationPage, recoveryCodesPage, renewalPage } from './views.ts';

/** Of whatever form: a link that was not copied whole has ended. */
const params = Type.Object({ token: Type.String() });

const field = Type.String({ default: '' });
/** Each kind of link asks for some of these, and refuses those that are empty. */
const JoinForm = Type.Object({ email: field, password: field, secret: field, code: field });

type Form = Static<typeof JoinForm>;
type JoinRequest = FastifyRequest & { params: Static<typeof params> };

/** What a form was sent with, for showing it again. */
interface Sent {
  readonly email?: string;
  readonly secret?: string;
  readonly fault: FormFault | null;
}

/** Links that let somebody in: looking at one changes nothing, sending its form uses it up. */
export function registerJoin(app: TypedApp, deps: PanelDependencies): void {
  const { admitsDemo, clock, cookies, db, limits, panelUrl } = deps;
  const basePath = basePathOf(panelUrl);
  const anybody = { config: { panel: { for: 'anybody' } } } as const;

  app.get('/join/:token', { ...anybody, schema: { params } }, async (request, reply) => {
    await limits.countSignIn(request);
    return show(request, reply, { fault: null });
  });

  const schema = { params, body: JoinForm };
  app.post('/join/:token', { ...anybody, schema }, async (request, reply) => {
    await limits.countSignIn(request);
    const link = await openLink(request.params.token);
    if (link === undefined) return sendPage(request, reply, deps, ENDED_PAGE, 404);
    if (link.purpose === 'demo') return enterDemo(request, reply);
    const form = request.body;
    try {
      return await (link.purpose === 'invitation'
        ? join(request, reply, form)
        : renew(request, reply, form));
    } catch (error) {
      return refuse(error, request, reply, form);
    }
  });

  registerAccept(app, deps);

  async function openLink(token: string): Promise<PanelLink | undefined> {
    if (!isToken(token)) return undefined;
    const link = await findOpenLink(db, hashToken(token), new Date(clock()));
    return link?.purpose === 'demo' && !admitsDemo ? undefined : link;
  }

  async function show(
    request: JoinRequest,
    reply: FastifyReply,
    { email, secret: sent, fault }: Sent,
  ): Promise<FastifyReply> {
    const { token } = request.params;
    const status = fault === null ? 200 : 422;
    const link = await openLink(token);
    if (link === undefined) return sendPage(request, reply, deps, ENDED_PAGE, 404);
    const secret = sent !== undefined && isCodeSecret(sent) ? sent : newCodeSecret();
    const parts = { basePath, token, fault, secret };
    if (link.purpose === 'demo') return sendPage(request, reply, deps, demoPage(parts));
    if (link.purpose !== 'invitation') {
      const page = renewalPage({ ...parts, purpose: link.purpose });
      return sendPage(request, reply, deps, page, status);
    }
    const { session } = visitOf(request);
    if (session?.isComplete === true && !session.person.is_demo) {
      return showInvitation(request, reply, deps, fault);
    }
    const invited = await findInvited(db, link);
    if (invited === undefined) return sendPage(request, reply, deps, ENDED_PAGE, 404);
    const page = invitationPage({
      ...parts,
      ...{ invited, email: email ?? invited.email },
    });
    return sendPage(request, reply, deps, page, status);
  }

  async function join(
    request: JoinRequest,
    reply: FastifyReply,
    { email, password, secret, code }: Form,
  ): Promise<FastifyReply> {
    const address = parseEmail(email.trim());
    if (address === undefined) {
      throw new FieldRefused('email', 'This is no e-mail address, such as ada@example.com.');
    }
    const factors = { email: address, password, secret, code };
    const joined = await joinAsNew(deps, request.params.token, factors, visitOf(request).visitor);
    cookies.setSession(reply, joined.token);
    cookies.setDevice(reply, joined.device);
    const path = joined.account === null ? PANEL_PREFIX : accountPath(joined.account);
    return sendPage(request, reply, deps, recoveryCodesPage(joined.recoveryCodes, basePath + path));
  }

  async function renew(
    request: JoinRequest,
    reply: FastifyReply,
    form: Form,
  ): Promise<FastifyReply> {
    const { token } = request.params;
    const { recoveryCodes } = await renewFactors(deps, token, form, visitOf(request).visitor);
    cookies.clearSession(reply);
    const next = `${PANEL_PREFIX}/sign-in`;
    if (recoveryCodes.length === 0) return leadTo(reply, panelUrl, next);
    return sendPage(request, reply, deps, recoveryCodesPage(recoveryCodes, basePath + next));
  }

  async function enterDemo(request: JoinRequest, reply: FastifyReply): Promise<FastifyReply> {
    try {
      const joined = await joinDemo(deps, request.params.token, visitOf(request).visitor);
      cookies.setSession(reply, joined.token);
      const { account } = joined;
      return leadTo(reply, panelUrl, account === undefined ? PANEL_PREFIX : accountPath(account));
    } catch (error) {
      return refuse(error, request, reply, {});
    }
  }

  /** The form again with the reason. */
  async function refuse(
    error: unknown,
    request: JoinRequest,
    reply: FastifyReply,
    form: Partial<Form>,
  ): Promise<FastifyReply> {
    if (error instanceof LinkEnded) return sendPage(request, reply, deps, ENDED_PAGE, 404);
    if (!(error instanceof FieldRefused)) throw error;
    const { field, message } = error;
    const { email, secret } = form;
    return show(request, reply, {
      ...(email === undefined || email === '' ? {} : { email }),
      ...(secret === undefined ? {} : { secret }),
      fault: { field, message },
    });
  }
}
