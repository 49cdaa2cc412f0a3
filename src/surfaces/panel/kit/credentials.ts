import { codeUri } from '#accounts/people/codes.ts';
import { type Html, html } from '../../pages/html.ts';
import { renderQrCode } from '../../pages/qr-code.ts';
import type { PanelTexts } from '../texts/index.ts';
import type { PanelPage } from './document.ts';
import { type FormFault, renderField } from './form.ts';
import { renderNotice } from './notice.ts';

/**
 * Recovery codes, shown once.
 * @param next Where to go afterwards, with the base path.
 * @param changed What was changed, if it was not the codes alone.
 */
export function recoveryCodesPage(
  { join, shell }: PanelTexts,
  codes: readonly string[],
  next: string,
  changed?: string,
): PanelPage {
  return {
    title: join.recoveryCodes.title,
    lead: join.recoveryCodes.lead,
    content: html`${changed !== undefined && renderNotice({ text: changed }, '')}<div class="secret"><pre><code id="recovery-codes">${codes.join('\n')}</code></pre>
<button type="button" class="plain copy" data-copy="recovery-codes" hidden>${shell.copy}</button></div>
<p><a class="button" href="${next}">${shell.kept}</a></p>`,
  };
}

export function newPasswordField(
  { join }: PanelTexts,
  name: string,
  fault: FormFault | null,
): Html {
  const field = { name, ...join.newPassword, type: 'password' } as const;
  return renderField({ ...field, autocomplete: 'new-password' }, fault);
}

/** What an authenticator app scans, and the secret to send back with its first code. */
export function renderAppSecret({ join }: PanelTexts, secret: string, label: string): Html {
  return html`<div class="qr-frame">${renderQrCode(codeUri(secret, label), join.app.qrCode)}</div>
<details><summary>${join.app.typed}</summary><p><code>${secret.replaceAll(/(.{4})(?=.)/g, '$1 ')}</code></p></details>
<input type="hidden" name="secret" value="${secret}">`;
}
