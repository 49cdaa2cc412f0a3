import { type Static, Type } from '@sinclair/typebox';
import type { KeyWithUse } from '#storage/repositories/keys/api-keys.ts';
import { type Html, html } from '../../../pages/html.ts';
import type { PanelPage } from '../../kit/document.ts';
import { type FormFault, renderArea, renderField, renderSelect } from '../../kit/form.ts';
import type { PanelTexts } from '../../texts/panel-texts.ts';
import { KEYS_SHOWN } from './list.ts';

export const ExplainForm = Type.Object({
  key: Type.String(),
  method: Type.String(),
  url: Type.String(),
  body: Type.String(),
  timestamp: Type.String(),
  nonce: Type.String(),
  signature: Type.String(),
});

export type ExplainFields = Partial<Static<typeof ExplainForm>>;

interface ExplainFrame {
  /** Path of the form, with the base path. */
  readonly url: string;
  /** Path of the keys. */
  readonly keysUrl: string;
  /** Keys whose signatures may be explained. */
  readonly keys: readonly KeyWithUse[];
  readonly fault: FormFault | null;
  /** What has been found; null for an empty form. */
  readonly result: Html | null;
}

export function explainPage(
  { requests: { explain: text } }: PanelTexts,
  fields: ExplainFields,
  { url, keysUrl, keys, fault, result }: ExplainFrame,
): PanelPage {
  if (keys.length === 0) {
    return {
      title: text.title,
      lead: text.lead,
      content: html`<p>${text.noKey} <a href="${keysUrl}">${text.createKey}</a></p>`,
    };
  }
  const exact = { autocomplete: 'off', required: true } as const;
  const shown = keys.filter(({ id }, index) => index < KEYS_SHOWN || id === fields.key);
  const choices = shown.map(({ id, name }) => [id, `${name} · ${id}`] as const);
  return {
    title: text.title,
    lead: text.lead,
    fault,
    content: html`${
      result !== null &&
      html`<section aria-labelledby="result" class="result"><h2 id="result">${text.result}</h2>
${result}</section>`
    }
<form method="post" action="${url}" class="stack">
${renderSelect('key', text.key, choices, fields.key)}
${renderField({ ...exact, name: 'method', label: text.method, value: fields.method ?? 'POST', maxlength: 16 }, fault)}
${renderField({ ...exact, name: 'url', label: text.url, value: fields.url, hint: text.urlHint }, fault)}
${renderArea({ name: 'body', label: text.body, value: fields.body, hint: text.bodyHint })}
${renderField({ ...exact, name: 'timestamp', label: text.timestamp, value: fields.timestamp }, fault)}
${renderField({ ...exact, name: 'nonce', label: text.nonce, value: fields.nonce }, fault)}
${renderField({ ...exact, name: 'signature', label: text.signature, value: fields.signature }, fault)}
<button>${text.submit}</button>
</form>`,
  };
}
