import { codeUri } from '#accounts/people/codes.ts';
import { type Html, html } from '../../pages/html.ts';
import { renderQrCode } from '../../pages/qr-code.ts';
import type { PanelTexts } from '../texts/panel-texts.ts';
import type { PanelPage } from './document.ts';
import { type FormFault, renderField } from './form.ts';
import { inGroups } from './groups.ts';
import { renderNotice } from './notice.ts';

/**
 * Recovery codes, shown once.
 * @param next Where to go afterwards, with the base path.
 * @param notice What else there is to say of the change that made them.
 */
export function recoveryCodesPage(
  { join, shell }: PanelTexts,
  codes: readonly string[],
  next: string,
  notice?: string,
): PanelPage {
  return {
    title: join.recoveryCodes.title,
    lead: join.recoveryCodes.lead,
    content: html`${notice !== undefined && renderNotice({ text: notice }, '')}<div class="secret"><pre><code id="recovery-codes">${codes.join('\n')}</code></pre>
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

/**
 * What an authenticator app scans, or opens where it is on the same device, or is given by hand; and the secret to send
 * back with its first code.
 */
export function renderAppSecret({ join, shell }: PanelTexts, secret: string, label: string): Html {
  const { qrCode, open, typed } = join.app;
  const uri = codeUri(secret, label);
  return html`<div class="qr-frame">${renderQrCode(uri, qrCode)}</div>
<p><a href="${uri}">${open}</a></p>
<details><summary>${typed}</summary><div class="secret"><p id="app-key">${inGroups(secret)}</p>
<button type="button" class="plain copy" data-copy="app-key" hidden>${shell.copy}</button></div></details>
<input type="hidden" name="secret" value="${secret}">`;
}
