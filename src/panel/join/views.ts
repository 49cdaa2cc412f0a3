import { parseEmail } from '../../accounts/input.ts';
import type { LinkPurpose } from '../../database/people-tables.ts';
import { type Html, html } from '../../pages/html.ts';
import { renderQrCode } from '../../pages/qr-code.ts';
import type { Invited } from '../../repositories/people/memberships.ts';
import { type FormFault, renderButton, renderField } from '../form.ts';
import type { PanelPage } from '../layout.ts';
import { codeUri } from '../people/codes.ts';
import { JOIN_PATH } from '../people/invitations.ts';
import { texts } from '../texts/index.ts';

const { roles } = texts.shell;

interface JoinParts {
  readonly basePath: string;
  readonly token: string;
  /** Of the authenticator app that is set up. */
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
    content: html`<p>You sign in here already? <a href="${url}/sign-in">Sign in</a>, and this account becomes one of yours.</p>
<form method="post" action="${url}" class="stack">
${renderField({ name: 'email', label: 'E-mail to sign in with', type: 'email', value: email, autocomplete: 'username' }, fault)}
${newPasswordField('password', fault)}
${codeFields(secret, parseEmail(email) ?? invited.email, fault)}
<button>Join</button>
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
  return {
    ...headOf(invited),
    fault,
    content: html`<p>You have signed in as ${person.email}. ${invited.accountName} becomes one of your accounts.</p>
${renderButton(action, `Join as ${person.name}`)}
<p class="quiet">Somebody else? Sign out first, then open the link again.</p>`,
  };
}

function headOf(invited: Invited): Pick<PanelPage, 'title' | 'lead'> {
  return {
    title: `Join ${invited.accountName}`,
    lead: html`${invited.accountName} invites ${invited.name} to its panel as ${roles[invited.role]}.`,
  };
}

/** A link for somebody who signs in already: a new password, a new authenticator app, or both. */
export function renewalPage(
  { basePath, token, fault, secret }: JoinParts,
  purpose: LinkPurpose,
): PanelPage {
  const titles: Partial<Record<LinkPurpose, string>> = {
    password: 'Choose a new password',
    factors: 'Set up a new authenticator app',
  };
  const present = { name: 'password', label: 'Your password', type: 'password' } as const;
  return {
    title: titles[purpose] ?? 'Choose a new password and authenticator app',
    lead: 'All your sessions end, and you sign in anew.',
    fault,
    content: html`<form method="post" action="${basePath}${JOIN_PATH}/${token}" class="stack">
${purpose === 'factors' ? renderField({ ...present, autocomplete: 'current-password' }, fault) : newPasswordField('password', fault)}
${purpose !== 'password' && codeFields(secret, 'your account', fault)}
<button>Save</button>
</form>`,
  };
}

export function demoPage({ basePath, token }: Pick<JoinParts, 'basePath' | 'token'>): PanelPage {
  return {
    title: 'Look around in the demo',
    lead: 'You enter three demo shops as their admin, and a demo partner as its owner. Nothing here is real, and no password is needed.',
    content: html`${renderButton(`${basePath}${JOIN_PATH}/${token}`, 'Open the demo')}`,
  };
}

/** The page of a link that was used, has expired or never existed: it does not reveal which. */
export const ENDED_PAGE: PanelPage = {
  title: 'This link does not work any more',
  content: html`<p>It was used already, has expired, or was not copied whole. Ask whoever made it for a new one.</p>`,
  status: 404,
};

/** Recovery codes, shown once. */
export function recoveryCodesPage(codes: readonly string[], next: string): PanelPage {
  return {
    title: 'Keep your recovery codes',
    lead: 'Each of them stands in for your authenticator app once. They are shown only now: print them, or keep them where your passwords are.',
    content: html`<div class="secret"><pre><code id="recovery-codes">${codes.join('\n')}</code></pre>
<button type="button" class="plain copy" data-copy="recovery-codes" hidden>Copy</button></div>
<p><a class="button" href="${next}">I have kept them</a></p>`,
  };
}

export function newPasswordField(name: string, fault: FormFault | null): Html {
  const hint = 'At least 15 characters. Three or four random words are easy to remember.';
  const field = { name, hint, label: 'New password', type: 'password' } as const;
  return renderField({ ...field, autocomplete: 'new-password' }, fault);
}

/** What an authenticator app scans, and the secret to send back with its first code. */
export function renderAppSecret(secret: string, label: string): Html {
  return html`<div class="qr-frame">${renderQrCode(codeUri(secret, label), 'QR code for an authenticator app')}</div>
<details><summary>No camera? Type the key</summary><p><code>${secret.replaceAll(/(.{4})(?=.)/g, '$1 ')}</code></p></details>
<input type="hidden" name="secret" value="${secret}">`;
}

function codeFields(secret: string, label: string, fault: FormFault | null): Html {
  return html`<fieldset>
<legend>Authenticator app</legend>
<p>Scan this with an app such as Aegis, 1Password or Google Authenticator, then enter the code that it shows.</p>
${renderAppSecret(secret, label)}
${renderField({ name: 'code', label: 'Code', autocomplete: 'one-time-code', inputmode: 'numeric', maxlength: 10 }, fault)}
</fieldset>`;
}
