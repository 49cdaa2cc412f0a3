import { html } from '../../pages/html.ts';
import { PANEL_PREFIX } from '../kit/assets.ts';
import type { PanelPage } from '../kit/document.ts';
import { type FormFault, renderField } from '../kit/form.ts';
import { withNext } from '../kit/next.ts';
import type { PanelTexts } from '../texts/panel-texts.ts';
import { FORGOTTEN_PATH } from './forgotten.ts';

interface SignInParts {
  readonly basePath: string;
  /** Where the form goes, without the base path. */
  readonly action: string;
  readonly email: string;
  /** Whether there are people of the demo, who sign in by a link. */
  readonly hasDemo: boolean;
  readonly sendsMail: boolean;
  readonly fault: FormFault | null;
}

/** E-mail and password. */
export function signInPage(
  { signIn }: PanelTexts,
  { basePath, action, email, hasDemo, sendsMail, fault }: SignInParts,
): PanelPage {
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
  { signIn: { code } }: PanelTexts,
  basePath: string,
  next: string,
  fault: FormFault | null,
): PanelPage {
  const { title, label, hint, submit } = code;
  return {
    title,
    fault,
    content: html`<form method="post" action="${basePath}${withNext(`${PANEL_PREFIX}/sign-in/code`, next)}" class="stack">
${renderField({ name: 'code', label, hint, autocomplete: 'one-time-code', maxlength: 40 }, fault)}
<button>${submit}</button>
</form>`,
  };
}
