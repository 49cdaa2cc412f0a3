import { codeUri } from '#accounts/people/codes.ts';
import { type Html, html } from '../../pages/html.ts';
import { renderQrCode } from '../../pages/qr-code.ts';
import { texts } from '../texts/index.ts';
import type { PanelPage } from './document.ts';
import { type FormFault, renderField } from './form.ts';

const { join: joinTexts, shell } = texts;

/** Recovery codes, shown once. */
export function recoveryCodesPage(codes: readonly string[], next: string): PanelPage {
  return {
    title: joinTexts.recoveryCodes.title,
    lead: joinTexts.recoveryCodes.lead,
    content: html`<div class="secret"><pre><code id="recovery-codes">${codes.join('\n')}</code></pre>
<button type="button" class="plain copy" data-copy="recovery-codes" hidden>${shell.copy}</button></div>
<p><a class="button" href="${next}">${shell.kept}</a></p>`,
  };
}

export function newPasswordField(name: string, fault: FormFault | null): Html {
  const field = { name, ...joinTexts.newPassword, type: 'password' } as const;
  return renderField({ ...field, autocomplete: 'new-password' }, fault);
}

/** What an authenticator app scans, and the secret to send back with its first code. */
export function renderAppSecret(secret: string, label: string): Html {
  return html`<div class="qr-frame">${renderQrCode(codeUri(secret, label), joinTexts.app.qrCode)}</div>
<details><summary>${joinTexts.app.typed}</summary><p><code>${secret.replaceAll(/(.{4})(?=.)/g, '$1 ')}</code></p></details>
<input type="hidden" name="secret" value="${secret}">`;
}
