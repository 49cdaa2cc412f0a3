import { parseEmail } from '#accounts/input.ts';
import { JOIN_PATH } from '#accounts/people/invitations.ts';
import type { LinkPurpose } from '#storage/database/people-tables.ts';
import type { Invited } from '#storage/repositories/people/memberships.ts';
import { type Html, html } from '../../pages/html.ts';
import { newPasswordField, renderAppSecret } from '../kit/credentials.ts';
import type { PanelPage } from '../kit/document.ts';
import { type FormFault, renderButton, renderField } from '../kit/form.ts';
import { texts } from '../texts/index.ts';

const { join: joinTexts, shell } = texts;

interface JoinParts {
  readonly basePath: string;
  readonly token: string;
  /** Secret of the authenticator app that is being set up. */
  readonly secret: string;
  readonly fault: FormFault | null;
}

/** An invitation for somebody new, who chooses a password and sets up an authenticator app. */
export function invitationPage(
  { basePath, token, fault, secret }: JoinParts,
  invited: Invited,
  email: string,
): PanelPage {
  const url = `${basePath}${JOIN_PATH}/${token}`;
  return {
    ...headOf(invited),
    fault,
    content: html`<p>${joinTexts.invitation.known(`${url}/sign-in`)}</p>
<form method="post" action="${url}" class="stack">
${renderField({ name: 'email', label: joinTexts.invitation.email, type: 'email', value: email, autocomplete: 'username' }, fault)}
${newPasswordField(texts, 'password', fault)}
${codeFields(secret, parseEmail(email) ?? invited.email, fault)}
<button>${joinTexts.invitation.submit}</button>
</form>`,
  };
}

/**
 * An invitation for somebody who has signed in.
 * @param action Where the form goes, with the base path.
 */
export function acceptPage(
  action: string,
  invited: Invited,
  person: { readonly name: string; readonly email: string },
  fault: FormFault | null,
): PanelPage {
  const { text, submit, otherPerson } = joinTexts.acceptance;
  return {
    ...headOf(invited),
    fault,
    content: html`<p>${text(person.email, invited.accountName)}</p>
${renderButton(action, submit(person.name))}
<p class="quiet">${otherPerson}</p>`,
  };
}

function headOf({ accountName, name, role }: Invited): Pick<PanelPage, 'title' | 'lead'> {
  const { title, lead } = joinTexts.invitation;
  return {
    title: title(accountName),
    lead: lead(accountName, name, shell.roles[role]),
  };
}

/** A link for somebody who signs in already: a new password, a new authenticator app, or both. */
export function renewalPage(
  { basePath, token, fault, secret }: JoinParts,
  purpose: LinkPurpose,
): PanelPage {
  const { titles, lead, presentPassword, account, submit } = joinTexts.renewal;
  const known: Partial<Record<LinkPurpose, string>> = titles;
  const present = { name: 'password', label: presentPassword, type: 'password' } as const;
  return {
    title: known[purpose] ?? titles.both,
    lead,
    fault,
    content: html`<form method="post" action="${basePath}${JOIN_PATH}/${token}" class="stack">
${purpose === 'factors' ? renderField({ ...present, autocomplete: 'current-password' }, fault) : newPasswordField(texts, 'password', fault)}
${purpose !== 'password' && codeFields(secret, account, fault)}
<button>${submit}</button>
</form>`,
  };
}

export function demoPage({ basePath, token }: Pick<JoinParts, 'basePath' | 'token'>): PanelPage {
  const { title, lead, submit } = joinTexts.demo;
  return {
    title,
    lead,
    content: html`${renderButton(`${basePath}${JOIN_PATH}/${token}`, submit)}`,
  };
}

function codeFields(secret: string, label: string, fault: FormFault | null): Html {
  return html`<fieldset>
<legend>${joinTexts.app.title}</legend>
<p>${joinTexts.app.lead}</p>
${renderAppSecret(texts, secret, label)}
${renderField({ name: 'code', label: joinTexts.app.code, autocomplete: 'one-time-code', inputmode: 'numeric', maxlength: 10 }, fault)}
</fieldset>`;
}
