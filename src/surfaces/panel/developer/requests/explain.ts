import { Type } from '@sinclair/typebox';
import { ownKeysOf } from '#accounts/access/key-holders.ts';
import { isChangeAllowed } from '#accounts/access/permissions.ts';
import { explainSignature } from '#accounts/keys/explain-signature.ts';
import type { TypedApp } from '#http/typed-app.ts';
import { parseSentTarget } from '#signing/sent-target.ts';
import { findHeldKey } from '#storage/repositories/keys/api-keys.ts';
import type { Membership } from '#storage/repositories/people/memberships.ts';
import { html } from '../../../pages/html.ts';
import { membershipOf, withPermission } from '../../hooks/access.ts';
import type { PanelDependencies } from '../../hooks/dependencies.ts';
import { texts } from '../../hooks/language.ts';
import { FormRefused } from '../../kit/form.ts';
import { registerForm } from '../../kit/form-route.ts';
import { PLACES } from '../../kit/places.ts';
import { ExplainForm, explainPage } from './explain-view.ts';
import { renderFindings } from './findings.ts';

/** A method of HTTP. */
const METHOD = /^[A-Za-z]{1,16}$/;

/** What the form begins with. */
const ExplainQuery = Type.Object({
  key: Type.Optional(Type.String({ maxLength: 64 })),
  method: Type.Optional(Type.String({ pattern: METHOD.source })),
  url: Type.Optional(Type.String({ maxLength: 2_048 })),
});

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
