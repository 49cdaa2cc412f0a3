import { type Static, Type } from '@sinclair/typebox';
import type { FastifyRequest } from 'fastify';
import { ownKeysOf } from '#accounts/access/key-holders.ts';
import { listKeysWithUse } from '#storage/repositories/keys/api-keys.ts';
import { type Html, html } from '../../../pages/html.ts';
import { membershipOf } from '../../hooks/access.ts';
import type { PanelDependencies } from '../../hooks/dependencies.ts';
import { texts } from '../../hooks/language.ts';
import type { PanelPage } from '../../kit/document.ts';
import { type FormFault, renderArea, renderField, renderSelect } from '../../kit/form.ts';
import { ownUrl } from '../../kit/navigation.ts';
import { PLACES } from '../../kit/places.ts';
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

type ExplainFields = Partial<Static<typeof ExplainForm>>;

/**
 * The form, whose keys are those that the visitor may have signed with and that are not revoked.
 * @param result What has been found.
 */
export async function explainPage(
  request: FastifyRequest,
  deps: PanelDependencies,
  fields: ExplainFields,
  fault: FormFault | null = null,
  result: Html | null = null,
): Promise<PanelPage> {
  const { explain: text } = texts(request).requests;
  const membership = membershipOf(request);
  const own = await listKeysWithUse(deps.db, ownKeysOf(membership));
  const keys = own.filter(({ secret }) => secret !== null);
  const url = ownUrl(request, PLACES[membership.kind].developer);
  if (keys.length === 0) {
    return {
      title: text.title,
      lead: text.lead,
      content: html`<p>${text.noKey} <a href="${url}/keys">${text.createKey}</a></p>`,
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
<form method="post" action="${url}/explain" class="stack">
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
