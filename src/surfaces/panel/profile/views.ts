import type { FastifyRequest } from 'fastify';
import { isCodeSecret, newCodeSecret } from '#accounts/people/codes.ts';
import { listRecoveryCodes } from '#storage/repositories/people/people.ts';
import { listSessions } from '#storage/repositories/people/sessions.ts';
import { type Html, html } from '../../pages/html.ts';
import { sessionOf } from '../hooks/access.ts';
import type { PanelDependencies } from '../hooks/dependencies.ts';
import { texts } from '../hooks/language.ts';
import { renderClosedCodes } from '../kit/code-lockout-warning.ts';
import { newPasswordField, renderAppSecret } from '../kit/credentials.ts';
import type { PanelPage } from '../kit/document.ts';
import { type FormFault, renderButton, renderField, renderSelect } from '../kit/form.ts';
import { dateTime } from '../kit/format.ts';
import { PROFILE } from '../kit/places.ts';
import { LANGUAGES } from '../texts/languages.ts';
import type { PanelTexts } from '../texts/panel-texts.ts';

/** What somebody signs in with, and where they have signed in. */
export async function profilePage(
  request: FastifyRequest,
  { clock, db, sendsMail }: PanelDependencies,
  fault: FormFault | null,
): Promise<PanelPage> {
  const words = texts(request);
  const { session: own, person } = sessionOf(request);
  const [sessions, codes] = await Promise.all([
    listSessions(db, person.id),
    listRecoveryCodes(db, person.id),
  ]);
  const { basePath } = request;
  const url = basePath + PROFILE;
  const { profile: profileTexts } = words;
  const { sessions: sessionTexts } = profileTexts;
  const link = (form: ProfileForm) =>
    html`<a href="${url}/${form}">${profileTexts.changes[form]}</a>`;
  return {
    title: person.name,
    lead: person.email,
    fault,
    content: html`${renderClosedCodes(words, person, new Date(clock()), basePath)}${
      person.is_demo
        ? html`<p class="notice">${profileTexts.demo}</p>`
        : html`<section aria-labelledby="signing-in"><h2 id="signing-in">${profileTexts.signingIn}</h2>
${
  person.email_confirmed_at === null &&
  (sendsMail
    ? html`<p class="notice">${profileTexts.unconfirmed(person.email)}</p>
${renderButton(`${url}/email/send`, profileTexts.resend)}`
    : html`<p class="notice">${profileTexts.unconfirmedWithoutMail(person.email)}</p>`)
}${codes.length < 4 && html`<p class="notice">${profileTexts.fewRecoveryCodes(codes.length)}</p>`}
<ul class="actions">
<li>${link('email')}</li>
<li>${link('password')}</li>
<li>${link('app')}</li>
<li>${link('recovery-codes')} <span class="quiet">${profileTexts.recoveryCodes(codes.length)}</span></li>
</ul>
<p class="quiet">${sendsMail ? profileTexts.mail : profileTexts.noMail}</p></section>`
    }
<section aria-labelledby="sessions"><h2 id="sessions">${sessionTexts.title}</h2>
<p class="quiet">${sessionTexts.lead}</p>
<ul class="rows">${sessions.map(
      session =>
        html`<li><div><strong>${deviceOf(words, session.device)}</strong>${session.id === own.id && html` <span class="tag">${sessionTexts.own}</span>`}${session.second_factor_at === null && !person.is_demo && html` <span class="tag">${sessionTexts.half}</span>`}<br>
<span class="quiet">${sessionTexts.seen(session.address, dateTime(words, session.created_at), dateTime(words, session.last_seen_at))}</span></div>
${session.id !== own.id && renderButton(`${url}/sessions/${session.id}/end`, sessionTexts.end, 'plain')}</li>`,
    )}</ul>
${sessions.length > 1 && renderButton(`${url}/sessions/end-others`, sessionTexts.endOthers, 'plain')}
</section>
${renderLanguages(words, `${url}/language`, person.language)}`,
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

/** What was typed into a form, and the secret of the new authenticator app. */
interface GivenFields {
  readonly email?: string;
  readonly secret?: string;
}

export type ProfileForm = 'email' | 'password' | 'app' | 'recovery-codes';

/** One change of what somebody signs in with, proved by password and code. */
export function profileFormPage(
  request: FastifyRequest,
  { sendsMail }: PanelDependencies,
  form: ProfileForm,
  fault: FormFault | null,
  given: GivenFields = {},
): PanelPage {
  const words = texts(request);
  const { changes, form: formTexts } = words.profile;
  const isConfirmed = sessionOf(request).person.email_confirmed_at !== null;
  const emailLead = isConfirmed ? formTexts.emailLead : formTexts.unconfirmedEmailLead;
  const title = changes[form];
  const url = request.basePath + PROFILE;
  return {
    title,
    lead: form === 'email' && sendsMail ? emailLead : formTexts.lead,
    fault,
    content: html`<form method="post" action="${url}/${form}" class="stack">
${fieldsOf(request, form, given, fault)}
<fieldset><legend>${formTexts.proof}</legend>
${renderField({ name: 'password', label: form === 'password' ? formTexts.presentPassword : formTexts.password, type: 'password', autocomplete: 'current-password' }, fault)}
${renderField({ name: 'code', label: form === 'app' ? formTexts.presentAppCode : formTexts.code, autocomplete: 'one-time-code', maxlength: 40 }, fault)}
</fieldset>
<button>${title}</button>
</form>
<p><a href="${url}">${formTexts.back}</a></p>`,
  };
}

function fieldsOf(
  request: FastifyRequest,
  form: ProfileForm,
  given: GivenFields,
  fault: FormFault | null,
): Html {
  const words = texts(request);
  const { form: formTexts } = words.profile;
  const { email: ownEmail, email_confirmed_at: confirmedAt } = sessionOf(request).person;
  const { email = confirmedAt === null ? ownEmail : '', secret: sent = '' } = given;
  switch (form) {
    case 'email': {
      const field = { name: 'email', label: formTexts.newEmail, type: 'email' } as const;
      return renderField({ ...field, value: email, autocomplete: 'email' }, fault);
    }
    case 'password':
      return newPasswordField(words, 'new-password', fault);
    case 'app':
      return html`<p>${formTexts.newApp}</p>
${renderAppSecret(words, isCodeSecret(sent) ? sent : newCodeSecret(), ownEmail)}
${renderField({ name: 'new-code', label: formTexts.newAppCode, autocomplete: 'one-time-code', inputmode: 'numeric', maxlength: 10 }, fault)}`;
    case 'recovery-codes':
      return html`<p>${formTexts.recoveryCodes}</p>`;
  }
}
