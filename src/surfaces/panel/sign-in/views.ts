import type { FastifyRequest } from 'fastify';
import { hasDemoPeople } from '#storage/repositories/people/people.ts';
import { html } from '../../pages/html.ts';
import type { PanelDependencies } from '../hooks/dependencies.ts';
import { texts } from '../hooks/language.ts';
import { PANEL_PREFIX } from '../kit/assets.ts';
import type { PanelPage } from '../kit/document.ts';
import { type FormFault, renderField } from '../kit/form.ts';
import { withNext } from '../kit/next.ts';
import { FORGOTTEN_PATH } from './forgotten.ts';

/**
 * E-mail and password.
 * @param action Where the form goes, without the base path.
 */
export async function signInPage(
  request: FastifyRequest,
  { admitsDemo, db, sendsMail }: PanelDependencies,
  action: string,
  email: string,
  fault: FormFault | null,
): Promise<PanelPage> {
  const { basePath } = request;
  const { signIn } = texts(request);
  const hasDemo = admitsDemo && (await hasDemoPeople(db));
  return {
    title: signIn.title,
    fault,
    content: html`${hasDemo && html`<p class="notice">${signIn.demo}</p>`}<form method="post" action="${basePath}${action}" class="stack">
${renderField({ name: 'email', label: signIn.email, type: 'email', value: email, autocomplete: 'username' }, fault)}
${renderField({ name: 'password', label: signIn.password, type: 'password', autocomplete: 'current-password' }, fault)}
<button>${signIn.submit}</button>
</form>
<p><a href="${basePath}${PANEL_PREFIX}${FORGOTTEN_PATH}">${signIn.forgottenLink}</a></p>
<p class="quiet">${signIn.noAccount}${sendsMail && html` ${signIn.unconfirmed}`}</p>`,
  };
}

/**
 * The code that completes signing in.
 * @param next Where to go afterwards.
 */
export function codePage(
  request: FastifyRequest,
  next: string,
  fault: FormFault | null,
): PanelPage {
  const { title, label, hint, submit } = texts(request).signIn.code;
  return {
    title,
    fault,
    content: html`<form method="post" action="${request.basePath}${withNext(`${PANEL_PREFIX}/sign-in/code`, next)}" class="stack">
${renderField({ name: 'code', label, hint, autocomplete: 'one-time-code', maxlength: 40 }, fault)}
<button>${submit}</button>
</form>`,
  };
}
