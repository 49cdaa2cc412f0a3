import { type Static, Type } from '@sinclair/typebox';
import type { FastifyRequest } from 'fastify';
import { ownKeysOf } from '#accounts/access/key-holders.ts';
import { isChangeAllowed } from '#accounts/access/permissions.ts';
import { explainSignature } from '#accounts/keys/explain-signature.ts';
import type { TypedApp } from '#http/typed-app.ts';
import { parseSentTarget } from '#signing/sent-target.ts';
import { findHeldKey, listKeysWithUse } from '#storage/repositories/keys/api-keys.ts';
import type { Membership } from '#storage/repositories/people/memberships.ts';
import { type Html, html } from '../../../pages/html.ts';
import { membershipOf, withPermission } from '../../hooks/access.ts';
import type { PanelDependencies } from '../../hooks/dependencies.ts';
import { texts } from '../../hooks/language.ts';
import type { PanelPage } from '../../kit/document.ts';
import {
  type FormFault,
  FormRefused,
  renderArea,
  renderField,
  renderSelect,
} from '../../kit/form.ts';
import { registerForm } from '../../kit/form-route.ts';
import { ownUrl } from '../../kit/navigation.ts';
import { PLACES } from '../../kit/places.ts';
import { renderFindings } from './findings.ts';
import { KEYS_SHOWN } from './list.ts';

/** A method of HTTP. */
const METHOD = /^[A-Za-z]{1,16}$/;

/** What the form begins with. */
const ExplainQuery = Type.Object({
  key: Type.Optional(Type.String({ maxLength: 64 })),
  method: Type.Optional(Type.String({ pattern: METHOD.source })),
  url: Type.Optional(Type.String({ maxLength: 2_048 })),
});

const ExplainForm = Type.Object({
  key: Type.String(),
  method: Type.String(),
  url: Type.String(),
  body: Type.String(),
  timestamp: Type.String(),
  nonce: Type.String(),
  signature: Type.String(),
});

type ExplainFields = Partial<Static<typeof ExplainForm>>;

/** The form that explains a signature. */
export function registerExplanations(
  kind: Membership['kind'],
  app: TypedApp,
  deps: PanelDependencies,
): void {
  const { db, explaining: budget, keyring, limits, publicUrl } = deps;
  const rule = { for: kind, permission: 'signatures.explain' } as const;
  const path = `/${kind}s/:accountId${PLACES[kind].developer}/explain`;

  const asking = withPermission(kind, rule.permission, { querystring: ExplainQuery });
  app.get(path, asking, async request => {
    // Without the form, which an inactive account could not send.
    if (!isChangeAllowed(membershipOf(request), rule.permission)) {
      const { title, lead } = texts(request).requests.explain;
      return { title, lead, content: html`` };
    }
    return explainPage(request, deps, request.query);
  });

  registerForm(app, deps, path, {
    rule,
    body: ExplainForm,
    change: async request => {
      const { explain: text } = texts(request).requests;
      const { url, ...fields } = request.body;
      const key = await findHeldKey(db, ownKeysOf(membershipOf(request)), fields.key);
      const target = parseSentTarget(url.trim());
      if (key === undefined) throw new FormRefused('key', text.chooseKey);
      if (!METHOD.test(fields.method)) throw new FormRefused('method', text.badMethod);
      if (target === undefined) throw new FormRefused('url', text.badUrl);
      if (!budget.has(true)) throw new FormRefused(null, text.busy);
      await limits.countExplanation(request);
      const sent = { ...fields, ...target, publicUrl, method: fields.method.toUpperCase() };
      const found = budget.spend(() => explainSignature(keyring, key, sent));
      if (found === null) throw new FormRefused('key', text.chooseKey);
      return renderFindings(texts(request), found, found.tried);
    },
    again: (request, fault) => explainPage(request, deps, request.body, fault),
    done: (request, result) => explainPage(request, deps, request.body, null, result),
  });
}

/**
 * The form, whose keys are those that the visitor may have signed with and that are not revoked.
 * @param result What has been found.
 */
async function explainPage(
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
