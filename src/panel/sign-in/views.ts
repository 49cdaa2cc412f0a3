import { type Html, html } from '../../pages/html.ts';
import { PANEL_PREFIX } from '../assets.ts';
import { type FormFault, renderFault, renderField } from '../form.ts';
import type { PanelPage } from '../layout.ts';
import { withNext } from '../next.ts';

interface FormParts {
  readonly basePath: string;
  /** Where to go afterwards. */
  readonly next: string;
  readonly fault: FormFault | null;
}

/** E-mail and password. */
export function signInPage({
  action,
  fault,
  email,
}: {
  /** Where the form goes, with the base path. */
  readonly action: string;
  readonly fault: FormFault | null;
  readonly email: string;
}): PanelPage {
  return {
    title: 'Sign in',
    content: html`${renderFault(fault)}
<form method="post" action="${action}" class="stack">
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

/** The code that completes signing in. */
export function codePage({ basePath, next, fault }: FormParts): PanelPage {
  return {
    title: 'Enter your code',
    content: codeForm(`${basePath}${withNext(`${PANEL_PREFIX}/sign-in/code`, next)}`, fault),
  };
}

/** The code that a change asks for; in the demo, a button. */
export function confirmPage({
  basePath,
  next,
  fault,
  isDemo,
}: FormParts & { isDemo: boolean }): PanelPage {
  const action = `${basePath}${withNext(`${PANEL_PREFIX}/confirm`, next)}`;
  return {
    title: 'Confirm that it is you',
    lead: 'What comes next needs your second factor, unless you have given it within the last ten minutes.',
    content: isDemo
      ? html`<form method="post" action="${action}" class="stack">
<p>The demo asks for no code: a real account would, here.</p>
<button>Confirm</button>
</form>`
      : codeForm(action, fault),
  };
}

function codeForm(action: string, fault: FormFault | null): Html {
  return html`${renderFault(fault)}
<form method="post" action="${action}" class="stack">
${renderField(CODE_FIELD, fault)}
<button>Confirm</button>
</form>`;
}
