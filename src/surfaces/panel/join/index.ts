import { type Static, Type } from '@sinclair/typebox';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { isCodeSecret, newCodeSecret } from '#accounts/people/codes.ts';
import { findOpenLink, JOIN_PATH } from '#accounts/people/invitations.ts';
import { findInvited, joinAsNew, joinDemo, renewFactors } from '#accounts/people/join.ts';
import { LinkEnded } from '#accounts/people/refusals.ts';
import { hashToken, isToken } from '#crypto/token.ts';
import type { TypedApp } from '#http/typed-app.ts';
import type { PanelLink } from '#storage/database/people-tables.ts';
import { FOR_ANYBODY, visitOf } from '../hooks/access.ts';
import type { PanelDependencies } from '../hooks/dependencies.ts';
import { texts } from '../hooks/language.ts';
import { logOwner } from '../hooks/log-fields.ts';
import { PANEL_PREFIX } from '../kit/assets.ts';
import { recoveryCodesPage } from '../kit/credentials.ts';
import type { PanelPage } from '../kit/document.ts';
import { faultOf } from '../kit/failures.ts';
import type { FormFault } from '../kit/form.ts';
import { accountPath } from '../kit/navigation.ts';
import { type PageOrRedirect, redirectTo } from '../kit/pages.ts';
import { registerAccept, showInvitation } from './accept.ts';
import { registerConfirmEmail } from './confirm-email.ts';
import { demoPage, invitationPage, type Renewal, renewalPage } from './views.ts';

/** Accepts any text, so that the page can say that an incomplete link does not work. */
const params = Type.Object({ token: Type.String() });

const field = Type.String({ default: '' });
/** Each kind of link uses some of these fields, and refuses those that are empty. */
const JoinForm = Type.Object({ email: field, password: field, secret: field, code: field });

type Form = Static<typeof JoinForm>;
type JoinRequest = FastifyRequest & { params: Static<typeof params> };

/** Links that let somebody in: opening one changes nothing, sending its form uses it up. */
export function registerJoin(app: TypedApp, deps: PanelDependencies): void {
  const { admitsDemo, clock, cookies, db, limits, sendsMail } = deps;

  app.get('/join/:token', { ...FOR_ANYBODY, schema: { params } }, async request => {
    await limits.countSignIn(request);
    return show(request, { email: '', secret: '' }, null);
  });

  const schema = { params, body: JoinForm };
  app.post('/join/:token', { ...FOR_ANYBODY, schema }, async (request, reply) => {
    await limits.countSignIn(request);
    const { purpose } = await requireLink(request);
    try {
      if (purpose === 'invitation') return await join(request, reply, request.body);
      if (purpose === 'demo') return await enterDemo(request, reply);
      return await renew(request, reply, request.body, purpose);
    } catch (error) {
      return show(request, request.body, faultOf(error, request));
    }
  });

  registerAccept(app, deps);
  registerConfirmEmail(app, deps);

  /** Finds the link, and notes for the log whose it is if it renews a person's own factors. */
  async function requireLink(request: JoinRequest): Promise<PanelLink> {
    const { token } = request.params;
    if (!isToken(token)) throw new LinkEnded();
    const link = await findOpenLink(db, hashToken(token), new Date(clock()));
    if (link === undefined || (link.purpose === 'demo' && !admitsDemo)) throw new LinkEnded();
    if (link.person_id !== null) logOwner(request, { personId: link.person_id });
    return link;
  }

  async function show(
    request: JoinRequest,
    { email, secret: sent }: Pick<Form, 'email' | 'secret'>,
    fault: FormFault | null,
  ): Promise<PanelPage> {
    const { token } = request.params;
    const link = await requireLink(request);
    const { purpose } = link;
    const secret = isCodeSecret(sent) ? sent : newCodeSecret();
    const words = texts(request);
    const parts = { url: `${request.basePath}${JOIN_PATH}/${token}`, fault, secret };
    if (purpose === 'demo') return demoPage(words, parts);
    if (purpose !== 'invitation') return renewalPage(words, parts, purpose);
    const { session } = visitOf(request);
    if (session?.isComplete === true && !session.person.is_demo) {
      return showInvitation(request, deps, fault);
    }
    const invited = await findInvited(db, link);
    if (invited === undefined) throw new LinkEnded();
    return invitationPage(words, parts, invited, email || invited.email);
  }

  async function join(
    request: JoinRequest,
    reply: FastifyReply,
    form: Form,
  ): Promise<PageOrRedirect> {
    const joined = await joinAsNew(deps, request.params.token, form, visitOf(request));
    cookies.setSession(reply, joined.token);
    cookies.setDevice(reply, joined.device);
    const { recoveryCodes, account } = joined;
    const words = texts(request);
    const notice = sendsMail ? words.join.email.asked(form.email.trim()) : undefined;
    return recoveryCodesPage(words, recoveryCodes, request.basePath + accountPath(account), notice);
  }

  async function renew(
    request: JoinRequest,
    reply: FastifyReply,
    form: Form,
    purpose: Renewal,
  ): Promise<PageOrRedirect> {
    const { token } = request.params;
    const recoveryCodes = await renewFactors(deps, token, form, visitOf(request));
    cookies.clearSession(reply);
    const next = `${PANEL_PREFIX}/sign-in`;
    const words = texts(request);
    const renewed = words.join.renewal.renewed[purpose];
    return recoveryCodes.length === 0
      ? redirectTo(next, renewed)
      : recoveryCodesPage(words, recoveryCodes, request.basePath + next, renewed);
  }

  async function enterDemo(request: JoinRequest, reply: FastifyReply): Promise<PageOrRedirect> {
    const joined = await joinDemo(deps, request.params.token, visitOf(request));
    cookies.setSession(reply, joined.token);
    return redirectTo(joined.account === undefined ? PANEL_PREFIX : accountPath(joined.account));
  }
}
