import type { PanelSession, Person } from '../../database/people-tables.ts';
import { type Html, html } from '../../pages/html.ts';
import { PANEL_PREFIX } from '../assets.ts';
import { type FormFault, renderButton, renderField } from '../form.ts';
import { dateTime } from '../format.ts';
import { newPasswordField, renderAppSecret } from '../join/views.ts';
import type { PanelPage } from '../layout.ts';

const PROFILE = `${PANEL_PREFIX}/profile`;

interface ProfileParts {
  readonly basePath: string;
  readonly person: Pick<Person, 'name' | 'email' | 'is_demo'>;
  readonly sessions: readonly PanelSession[];
  /** ID of the session that looks at the page. */
  readonly ownSession: string;
  readonly recoveryCodesLeft: number;
  /** A warning at the top. */
  readonly notice: Html | null;
}

/** What somebody signs in with, and where they have signed in. */
export function profilePage(parts: ProfileParts): PanelPage {
  const { basePath, person, sessions, ownSession, recoveryCodesLeft, notice } = parts;
  const link = (path: string, text: string) =>
    html`<a href="${basePath}${PROFILE}/${path}">${text}</a>`;
  return {
    title: person.name,
    lead: person.email,
    content: html`${notice}${
      person.is_demo
        ? html`<p class="notice">You look around in the demo: there is nothing to sign in with.</p>`
        : html`<section aria-labelledby="signing-in"><h2 id="signing-in">Signing in</h2>
${
  recoveryCodesLeft < 4 &&
  html`<p class="notice">You have ${recoveryCodesLeft} recovery codes left. Make new ones before they run out.</p>`
}
<ul class="actions">
<li>${link('email', 'Change e-mail')}</li>
<li>${link('password', 'Change password')}</li>
<li>${link('app', 'Change authenticator app')}</li>
<li>${link('recovery-codes', 'Make new recovery codes')} <span class="quiet">${recoveryCodesLeft} left</span></li>
</ul></section>`
    }
<section aria-labelledby="sessions"><h2 id="sessions">Sessions</h2>
<p class="quiet">A session ends after an hour without a request, and after twelve hours in any case.</p>
<ul class="rows">${sessions.map(
      session =>
        html`<li><div><strong>${deviceOf(session.device)}</strong>${session.id === ownSession && html` <span class="tag">this one</span>`}${session.second_factor_at === null && !person.is_demo && html` <span class="tag">password only</span>`}<br>
<span class="quiet">${session.address}, since ${dateTime(session.created_at)}, last seen ${dateTime(session.last_seen_at)}</span></div>
${session.id !== ownSession && renderButton(`${basePath}${PROFILE}/sessions/${session.id}/end`, 'End', 'plain')}</li>`,
    )}</ul>
${sessions.length > 1 && renderButton(`${basePath}${PROFILE}/sessions/end-others`, 'End all others', 'plain')}
</section>`,
  };
}

/** The browser and the system that a User-Agent names, without the rest of it. */
function deviceOf(userAgent: string): string {
  const browser = /(Firefox|Edg|OPR|Chrome|Safari)\/(\d+)/.exec(userAgent);
  const system = /(Windows|Android|iPhone|iPad|Mac OS X|Linux)/.exec(userAgent)?.[1];
  const names: Record<string, string> = { Edg: 'Edge', OPR: 'Opera' };
  const name = browser?.[1] === undefined ? 'Unknown browser' : (names[browser[1]] ?? browser[1]);
  return system === undefined ? name : `${name} on ${system === 'Mac OS X' ? 'macOS' : system}`;
}

export type ProfileForm = 'email' | 'password' | 'app' | 'recovery-codes';

const TITLES: Readonly<Record<ProfileForm, string>> = {
  email: 'Change e-mail',
  password: 'Change password',
  app: 'Change authenticator app',
  'recovery-codes': 'Make new recovery codes',
};

/** What a form is shown with. */
export interface ProfileFormParts {
  readonly email: string;
  /** Of the new authenticator app. */
  readonly secret: string;
  readonly fault: FormFault | null;
}

/** One change of what somebody signs in with, proved by password and code. */
export function profileFormPage(
  basePath: string,
  form: ProfileForm,
  parts: ProfileFormParts,
): PanelPage {
  const { fault } = parts;
  return {
    title: TITLES[form],
    lead: 'All your other sessions end.',
    fault,
    content: html`<form method="post" action="${basePath}${PROFILE}/${form}" class="stack">
${fieldsOf(form, parts)}
<fieldset><legend>Proof that it is you</legend>
${renderField({ name: 'password', label: form === 'password' ? 'Present password' : 'Password', type: 'password', autocomplete: 'current-password' }, fault)}
${renderField({ name: 'code', label: form === 'app' ? 'Code of the present app, or a recovery code' : 'Code', autocomplete: 'one-time-code', maxlength: 40 }, fault)}
</fieldset>
<button>${TITLES[form]}</button>
</form>`,
  };
}

function fieldsOf(form: ProfileForm, { email, secret, fault }: ProfileFormParts): Html {
  switch (form) {
    case 'email':
      return renderField(
        { name: 'email', label: 'New e-mail', type: 'email', value: email, autocomplete: 'email' },
        fault,
      );
    case 'password':
      return newPasswordField('new-password', fault);
    case 'app':
      return html`<p>Scan this with the new app, then enter the code that it shows.</p>
${renderAppSecret(secret, email)}
${renderField({ name: 'new-code', label: 'Code of the new app', autocomplete: 'one-time-code', inputmode: 'numeric', maxlength: 10 }, fault)}`;
    case 'recovery-codes':
      return html`<p>The codes that you have now stop working.</p>`;
  }
}
