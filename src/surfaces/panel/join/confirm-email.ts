import { type Static, Type } from '@sinclair/typebox';
import type { FastifyRequest } from 'fastify';
import { confirmEmail, findOpenEmailLink } from '#accounts/people/confirm-email.ts';
import { JOIN_PATH } from '#accounts/people/invitations.ts';
import { LinkEnded } from '#accounts/people/refusals.ts';
import { isToken } from '#crypto/token.ts';
import type { TypedApp } from '#http/typed-app.ts';
import { html } from '../../pages/html.ts';
import { FOR_ANYBODY, visitOf } from '../hooks/access.ts';
import type { PanelDependencies } from '../hooks/dependencies.ts';
import { texts } from '../hooks/language.ts';
import { logOwner } from '../hooks/log-fields.ts';
import type { PanelPage } from '../kit/document.ts';
import { faultOf } from '../kit/failures.ts';
import { type FormFault, renderField } from '../kit/form.ts';
import { redirectTo } from '../kit/pages.ts';
import { PROFILE } from '../kit/places.ts';

const PATH = '/join/:token/email';
/** Accepts any text, so that the page can say that an incomplete link does not work. */
const params = Type.Object({ token: Type.String() });
const PasswordForm = Type.Object({ password: Type.String() });

type LinkRequest = FastifyRequest & { params: Static<typeof params> };

/** The link by which a person confirms an e-mail that they want to sign in with. */
export function registerConfirmEmail(app: TypedApp, deps: PanelDependencies): void {
  const { clock, db, limits } = deps;

  app.get(PATH, { ...FOR_ANYBODY, schema: { params } }, async request => {
    await limits.countSignIn(request);
    return show(request, null);
  });

  const schema = { params, body: PasswordForm };
  app.post(PATH, { ...FOR_ANYBODY, schema }, async request => {
    await limits.countSignIn(request);
    const { token } = request.params;
    await requireLink(request);
    try {
      const email = await confirmEmail(deps, token, request.body.password, visitOf(request));
      return redirectTo(PROFILE, texts(request).join.email.confirmed(email));
    } catch (error) {
      return show(request, faultOf(error, request));
    }
  });

  /** Finds the e-mail that the link confirms, and notes for the log whose it is. */
  async function requireLink(request: LinkRequest): Promise<string> {
    const { token } = request.params;
    const link = isToken(token) ? await findOpenEmailLink(db, token, new Date(clock())) : undefined;
    if (link === undefined) throw new LinkEnded();
    logOwner(request, { personId: link.person_id });
    return link.email;
  }

  async function show(request: LinkRequest, fault: FormFault | null): Promise<PanelPage> {
    const email = await requireLink(request);
    const { title, lead, password, submit } = texts(request).join.email;
    const action = `${request.basePath}${JOIN_PATH}/${request.params.token}/email`;
    return {
      title,
      lead: lead(email),
      fault,
      content: html`<form method="post" action="${action}" class="stack">
${renderField({ name: 'password', label: password, type: 'password', autocomplete: 'current-password' }, fault)}
<button>${submit}</button>
</form>`,
    };
  }
}
