import { type Html, html } from '../../pages/html.ts';
import { PANEL_PREFIX } from '../kit/assets.ts';
import type { PanelPage } from '../kit/document.ts';
import { type FormFault, renderField } from '../kit/form.ts';
import { withNext } from '../kit/next.ts';
import { texts } from '../texts/index.ts';
import { FORGOTTEN_PATH } from './forgotten.ts';

const { signIn: signInTexts } = texts;
const { code: codeTexts } = signInTexts;

/**
 * E-mail and password.
 * @param action Where the form goes, without the base path.
 */
export function signInPage(
  basePath: string,
  action: string,
  email: string,
  fault: FormFault | null,
): PanelPage {
  return {
    title: signInTexts.title,
    fault,
    content: html`<form method="post" action="${basePath}${action}" class="stack">
${renderField({ name: 'email', label: signInTexts.email, type: 'email', value: email, autocomplete: 'username' }, fault)}
${renderField({ name: 'password', label: signInTexts.password, type: 'password', autocomplete: 'current-password' }, fault)}
<button>${signInTexts.submit}</button>
</form>
<p><a href="${basePath}${PANEL_PREFIX}${FORGOTTEN_PATH}">${signInTexts.forgottenLink}</a></p>
<p class="quiet">${signInTexts.noAccount}</p>`,
  };
}

const CODE_FIELD = {
  name: 'code',
  label: codeTexts.label,
  autocomplete: 'one-time-code',
  hint: codeTexts.hint,
  maxlength: 40,
} as const;

/**
 * The code that completes signing in.
 * @param next Where to go afterwards.
 */
export function codePage(basePath: string, next: string, fault: FormFault | null): PanelPage {
  return {
    title: codeTexts.title,
    fault,
    content: codeForm(`${basePath}${withNext(`${PANEL_PREFIX}/sign-in/code`, next)}`, fault),
  };
}

function codeForm(action: string, fault: FormFault | null): Html {
  return html`<form method="post" action="${action}" class="stack">
${renderField(CODE_FIELD, fault)}
<button>${codeTexts.submit}</button>
</form>`;
}
