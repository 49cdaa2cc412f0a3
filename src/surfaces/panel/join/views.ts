import { parseEmail } from '#accounts/input.ts';
import type { LinkPurpose } from '#storage/database/people-tables.ts';
import type { Invited } from '#storage/repositories/people/memberships.ts';
import { type Html, html } from '../../pages/html.ts';
import { newPasswordField, renderAppSecret } from '../kit/credentials.ts';
import type { PanelPage } from '../kit/document.ts';
import { type FormFault, renderButton, renderField } from '../kit/form.ts';
import type { PanelTexts } from '../texts/panel-texts.ts';

/** What a link renews for somebody who signs in already. */
export type Renewal = Exclude<LinkPurpose, 'invitation' | 'demo'>;

interface JoinParts {
  /** Of the link, with the base path. */
  readonly url: string;
  /** Secret of the authenticator app that is being set up. */
  readonly secret: string;
  readonly fault: FormFault | null;
}

/** An invitation for somebody new, who chooses a password and sets up an authenticator app. */
export function invitationPage(
  words: PanelTexts,
  { url, fault, secret }: JoinParts,
  invited: Invited,
  email: string,
): PanelPage {
  const { invitation } = words.join;
  return {
    ...headOf(words, invited),
    fault,
    content: html`<p>${invitation.known(`${url}/sign-in`)}</p>
<form method="post" action="${url}" class="stack">
${renderField({ name: 'email', label: invitation.email, type: 'email', value: email, autocomplete: 'username' }, fault)}
${newPasswordField(words, 'password', fault)}
${codeFields(words, secret, parseEmail(email) ?? invited.email, fault)}
<button>${invitation.submit}</button>
</form>`,
  };
}

/**
 * An invitation for somebody who has signed in.
 * @param action Where the form goes, with the base path.
 */
export function acceptPage(
  words: PanelTexts,
  action: string,
  invited: Invited,
  person: { readonly name: string; readonly email: string },
  fault: FormFault | null,
): PanelPage {
  const { text, submit, otherPerson } = words.join.acceptance;
  return {
    ...headOf(words, invited),
    fault,
    content: html`<p>${text(person.email, invited.accountName)}</p>
${renderButton(action, submit(person.name))}
<p class="quiet">${otherPerson}</p>`,
  };
}

function headOf(
  { join: { invitation }, shell }: PanelTexts,
  { accountName, name, role }: Invited,
): Pick<PanelPage, 'title' | 'lead'> {
  const { title, lead } = invitation;
  return {
    title: title(accountName),
    lead: lead(accountName, name, shell.roles[role]),
  };
}

/** A link for somebody who signs in already: a new password, a new authenticator app, or both. */
export function renewalPage(
  words: PanelTexts,
  { url, fault, secret }: JoinParts,
  purpose: Renewal,
): PanelPage {
  const { titles, lead, presentPassword, account, submit } = words.join.renewal;
  const present = { name: 'password', label: presentPassword, type: 'password' } as const;
  return {
    title: titles[purpose],
    lead,
    fault,
    content: html`<form method="post" action="${url}" class="stack">
${purpose === 'factors' ? renderField({ ...present, autocomplete: 'current-password' }, fault) : newPasswordField(words, 'password', fault)}
${purpose !== 'password' && codeFields(words, secret, account, fault)}
<button>${submit}</button>
</form>`,
  };
}

export function demoPage({ join: { demo } }: PanelTexts, { url }: JoinParts): PanelPage {
  const { title, lead, submit } = demo;
  return { title, lead, content: renderButton(url, submit) };
}

function codeFields(
  words: PanelTexts,
  secret: string,
  label: string,
  fault: FormFault | null,
): Html {
  const { title, lead, code } = words.join.app;
  return html`<fieldset>
<legend>${title}</legend>
<p>${lead}</p>
${renderAppSecret(words, secret, label)}
${renderField({ name: 'code', label: code, autocomplete: 'one-time-code', inputmode: 'numeric', maxlength: 10 }, fault)}
</fieldset>`;
}
