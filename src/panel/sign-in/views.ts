import { type Html, html } from '../../pages/html.ts';
import { PANEL_PREFIX } from '../assets.ts';
import { type FormFault, renderField } from '../form.ts';
import type { PanelPage } from '../layout.ts';
import { withNext } from '../next.ts';

/**
 * E-mail and password.
 * @param action Where the form goes, with the base path.
 */
export function signInPage(action: string, email: string, fault: FormFault | null): PanelPage {
  return {
    title: 'Sign in',
    fault,
    content: html`<form method="post" action="${action}" class="stack">
${renderField({ name: 'email', label: 'E-mail', type: 'email', value: email, autocomplete: 'username' }, fault)}
${renderField({ name: 'password', label: 'Password', type: 'password', autocomplete: 'current-password' }, fault)}
<button>Continue</button>
</form>
<p class="quiet">No account, or a lost password? Ask whoever manages the account, or your operator, for a link.</p>`,
  };
}

const CODE_FIELD = {
  name: 'code',
  label: 'Code',
  autocomplete: 'one-time-code',
  hint: 'Six digits from your authenticator app, or one of your recovery codes.',
  maxlength: 40,
} as const;

/**
 * The code that completes signing in.
 * @param next Where to go afterwards.
 */
export function codePage(basePath: string, next: string, fault: FormFault | null): PanelPage {
  return {
    title: 'Enter your code',
    fault,
    content: codeForm(`${basePath}${withNext(`${PANEL_PREFIX}/sign-in/code`, next)}`, fault),
  };
}

/** The code that a change asks for; in the demo, a button. */
export function confirmPage(
  basePath: string,
  next: string,
  fault: FormFault | null,
  isDemo: boolean,
): PanelPage {
  const action = `${basePath}${withNext(`${PANEL_PREFIX}/confirm`, next)}`;
  return {
    title: 'Confirm that it is you',
    lead: 'What comes next needs your second factor, unless you have given it within the last ten minutes.',
    fault,
    content: isDemo
      ? html`<form method="post" action="${action}" class="stack">
<p>The demo asks for no code: a real account would, here.</p>
<button>Confirm</button>
</form>`
      : codeForm(action, fault),
  };
}

function codeForm(action: string, fault: FormFault | null): Html {
  return html`<form method="post" action="${action}" class="stack">
${renderField(CODE_FIELD, fault)}
<button>Confirm</button>
</form>`;
}
