import type { PanelSession, Person } from '#storage/database/people-tables.ts';
import { type Html, html } from '../../pages/html.ts';
import { newPasswordField, renderAppSecret } from '../kit/credentials.ts';
import type { PanelPage } from '../kit/document.ts';
import { type FormFault, renderButton, renderField, renderSelect } from '../kit/form.ts';
import { dateTime } from '../kit/format.ts';
import { PROFILE } from '../kit/places.ts';
import { LANGUAGES } from '../texts/languages.ts';
import type { PanelTexts } from '../texts/panel-texts.ts';

interface ProfileParts {
  readonly basePath: string;
  readonly person: Pick<Person, 'name' | 'email' | 'email_confirmed_at' | 'is_demo' | 'language'>;
  readonly sessions: readonly PanelSession[];
  /** ID of the session that requests the page. */
  readonly ownSession: string;
  readonly recoveryCodesLeft: number;
  /** A warning at the top. */
  readonly notice: Html | null;
  readonly sendsMail: boolean;
  readonly fault: FormFault | null;
}

/** What somebody signs in with, and where they have signed in. */
export function profilePage(words: PanelTexts, parts: ProfileParts): PanelPage {
  const { basePath, person, sessions, ownSession, recoveryCodesLeft, notice, fault } = parts;
  const { profile: profileTexts } = words;
  const { sessions: sessionTexts } = profileTexts;
  const link = (form: ProfileForm) =>
    html`<a href="${basePath}${PROFILE}/${form}">${profileTexts.changes[form]}</a>`;
  return {
    title: person.name,
    lead: person.email,
    fault,
    content: html`${notice}${
      person.is_demo
        ? html`<p class="notice">${profileTexts.demo}</p>`
        : html`<section aria-labelledby="signing-in"><h2 id="signing-in">${profileTexts.signingIn}</h2>
${
  person.email_confirmed_at === null &&
  (parts.sendsMail
    ? html`<p class="notice">${profileTexts.unconfirmed(person.email)}</p>
${renderButton(`${basePath}${PROFILE}/email/send`, profileTexts.resend)}`
    : html`<p class="notice">${profileTexts.unconfirmedWithoutMail(person.email)}</p>`)
}${
  recoveryCodesLeft < 4 &&
  html`<p class="notice">${profileTexts.fewRecoveryCodes(recoveryCodesLeft)}</p>`
}
<ul class="actions">
<li>${link('email')}</li>
<li>${link('password')}</li>
<li>${link('app')}</li>
<li>${link('recovery-codes')} <span class="quiet">${profileTexts.recoveryCodes(recoveryCodesLeft)}</span></li>
</ul>
<p class="quiet">${parts.sendsMail ? profileTexts.mail : profileTexts.noMail}</p></section>`
    }
<section aria-labelledby="sessions"><h2 id="sessions">${sessionTexts.title}</h2>
<p class="quiet">${sessionTexts.lead}</p>
<ul class="rows">${sessions.map(
      session =>
        html`<li><div><strong>${deviceOf(words, session.device)}</strong>${session.id === ownSession && html` <span class="tag">${sessionTexts.own}</span>`}${session.second_factor_at === null && !person.is_demo && html` <span class="tag">${sessionTexts.half}</span>`}<br>
<span class="quiet">${sessionTexts.seen(session.address, dateTime(words, session.created_at), dateTime(words, session.last_seen_at))}</span></div>
${session.id !== ownSession && renderButton(`${basePath}${PROFILE}/sessions/${session.id}/end`, sessionTexts.end, 'plain')}</li>`,
    )}</ul>
${sessions.length > 1 && renderButton(`${basePath}${PROFILE}/sessions/end-others`, sessionTexts.endOthers, 'plain')}
</section>
${renderLanguages(words, `${basePath}${PROFILE}/language`, person.language)}`,
  };
}

function renderLanguages(
  { profile: { language } }: PanelTexts,
  action: string,
  chosen: string | null,
): Html {
  const { title, label, byBrowser, hint, submit } = language;
  const choices = Object.entries(LANGUAGES).map(([tag, { name }]) => [tag, name] as const);
  return html`<section aria-labelledby="language-choice"><h2 id="language-choice">${title}</h2>
<form method="post" action="${action}" class="stack">
${renderSelect('language', label, [['', byBrowser], ...choices], chosen ?? '')}
<p class="quiet">${hint}</p>
<button>${submit}</button>
</form></section>`;
}

/** The browser and the system that a User-Agent names, without the rest of it. */
function deviceOf({ profile: { sessions } }: PanelTexts, userAgent: string): string {
  const browser = /(Firefox|Edg|OPR|Chrome|Safari)\/(\d+)/.exec(userAgent);
  const system = /(Windows|Android|iPhone|iPad|Mac OS X|Linux)/.exec(userAgent)?.[1];
  const names: Record<string, string> = { Edg: 'Edge', OPR: 'Opera' };
  const name =
    browser?.[1] === undefined ? sessions.unknownBrowser : (names[browser[1]] ?? browser[1]);
  return system === undefined
    ? name
    : sessions.device(name, system === 'Mac OS X' ? 'macOS' : system);
}

export type ProfileForm = 'email' | 'password' | 'app' | 'recovery-codes';

/** What a form is shown with. */
interface ProfileFormParts {
  /** The new e-mail, as it was typed. */
  readonly email: string;
  /** What the person signs in with now, which names the account in the app. */
  readonly ownEmail: string;
  /** Whether that is confirmed. */
  readonly isConfirmed: boolean;
  /** Secret of the new authenticator app. */
  readonly secret: string;
  readonly sendsMail: boolean;
  readonly fault: FormFault | null;
}

/** One change of what somebody signs in with, proved by password and code. */
export function profileFormPage(
  words: PanelTexts,
  basePath: string,
  form: ProfileForm,
  parts: ProfileFormParts,
): PanelPage {
  const { fault } = parts;
  const { changes, form: formTexts } = words.profile;
  const title = changes[form];
  return {
    title,
    lead: leadOf(words, form, parts),
    fault,
    content: html`<form method="post" action="${basePath}${PROFILE}/${form}" class="stack">
${fieldsOf(words, form, parts)}
<fieldset><legend>${formTexts.proof}</legend>
${renderField({ name: 'password', label: form === 'password' ? formTexts.presentPassword : formTexts.password, type: 'password', autocomplete: 'current-password' }, fault)}
${renderField({ name: 'code', label: form === 'app' ? formTexts.presentAppCode : formTexts.code, autocomplete: 'one-time-code', maxlength: 40 }, fault)}
</fieldset>
<button>${title}</button>
</form>
<p><a href="${basePath}${PROFILE}">${formTexts.back}</a></p>`,
  };
}

function leadOf(
  { profile: { form: formTexts } }: PanelTexts,
  form: ProfileForm,
  { isConfirmed, sendsMail }: ProfileFormParts,
): string {
  if (form !== 'email' || !sendsMail) return formTexts.lead;
  return isConfirmed ? formTexts.emailLead : formTexts.unconfirmedEmailLead;
}

function fieldsOf(
  words: PanelTexts,
  form: ProfileForm,
  { email, ownEmail, secret, fault }: ProfileFormParts,
): Html {
  const { form: formTexts } = words.profile;
  switch (form) {
    case 'email':
      return renderField(
        {
          name: 'email',
          label: formTexts.newEmail,
          type: 'email',
          value: email,
          autocomplete: 'email',
        },
        fault,
      );
    case 'password':
      return newPasswordField(words, 'new-password', fault);
    case 'app':
      return html`<p>${formTexts.newApp}</p>
${renderAppSecret(words, secret, ownEmail)}
${renderField({ name: 'new-code', label: formTexts.newAppCode, autocomplete: 'one-time-code', inputmode: 'numeric', maxlength: 10 }, fault)}`;
    case 'recovery-codes':
      return html`<p>${formTexts.recoveryCodes}</p>`;
  }
}
