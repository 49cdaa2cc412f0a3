import type { FastifyRequest } from 'fastify';
import { ownKeysOf, visibleKeysOf } from '#accounts/access/key-holders.ts';
import { isChangeAllowed } from '#accounts/access/permissions.ts';
import { revokeKey, rotateKey } from '#accounts/keys/manage-keys.ts';
import { ApiError } from '#errors/api-error.ts';
import type { TypedApp } from '#http/typed-app.ts';
import {
  findHeldKey,
  type KeyHolder,
  type KeyWithUse,
  listKeysWithUse,
} from '#storage/repositories/keys/api-keys.ts';
import type { Membership } from '#storage/repositories/people/memberships.ts';
import { html } from '../../../pages/html.ts';
import { membershipOf, withPermission } from '../../hooks/access.ts';
import type { PanelDependencies } from '../../hooks/dependencies.ts';
import { texts } from '../../hooks/language.ts';
import { FormRefused } from '../../kit/form.ts';
import { registerForm } from '../../kit/form-route.ts';
import { pageAfter, renderList } from '../../kit/list.ts';
import { ownPath, ownUrl } from '../../kit/navigation.ts';
import { redirectTo } from '../../kit/pages.ts';
import { PLACES } from '../../kit/places.ts';
import { issueOnce } from '../../kit/secrets.ts';
import { KeyParams, KeysQuery, RevokeForm, RotateForm } from './forms.ts';
import { registerNewKey } from './new-key.ts';
import { isOver, issuedKeyPage, keyPage, renderKeys, rotationQuestion } from './views.ts';

const PAGE_SIZE = 25;

/**
 * API keys of a merchant, or of a partner's members. A form that is sent twice makes one secret, which is shown once.
 */
export function registerKeys(app: TypedApp, deps: PanelDependencies): void {
  for (const kind of ['merchant', 'partner'] as const) {
    registerKeysOf(kind, app, deps);
    registerNewKey(kind, app, deps);
  }
}

function registerKeysOf(kind: Membership['kind'], app: TypedApp, deps: PanelDependencies): void {
  const { clock, db, keyring, publicUrl } = deps;
  const place = `${PLACES[kind].developer}/keys`;
  const path = `/${kind}s/:accountId${place}`;
  const rule = { for: kind, permission: 'keys.manage' } as const;
  const params = KeyParams;

  const listing = withPermission(kind, 'keys.read', { querystring: KeysQuery });
  app.get(path, listing, async request => {
    const words = texts(request);
    const { title, lead, create, none } = words.keys;
    const { query } = request;
    const membership = membershipOf(request);
    const url = ownUrl(request, place);
    const keys = await listKeysWithUse(db, visibleKeysOf(membership));
    const mayManage = isChangeAllowed(membership, rule.permission);
    return {
      title,
      lead: lead(`${publicUrl}/docs/quickstart`),
      content: html`${mayManage && html`<p><a class="button" href="${url}/new">${create}</a></p>`}
${renderList(words, {
  url,
  query,
  page: pageAfter(keys, query.after, PAGE_SIZE),
  render: shown => renderKeys(request, deps, url, shown),
  none,
})}`,
    };
  });

  app.get(`${path}/:keyId`, withPermission(kind, 'keys.read', { params }), async request =>
    keyPage(request, deps, await requireKey(request, visibleKeysOf), null),
  );

  registerForm(app, deps, `${path}/:keyId/rotate`, {
    rule,
    params,
    body: RotateForm,
    ask: async request => {
      const key = await requireKey(request, ownKeysOf);
      // The change is refused.
      if (isOver(key, new Date(clock()))) return null;
      return rotationQuestion(request, deps, key, request.body.grace === 'no');
    },
    change: async request => {
      const { id, name } = await requireKey(request, ownKeysOf);
      const { intent, grace } = request.body;
      const issued = await issueOnce(request, deps, intent, operator =>
        rotateKey(operator, keyring, id, grace === 'no'),
      );
      return { name, issued };
    },
    again: async (request, fault) =>
      keyPage(request, deps, await requireKey(request, ownKeysOf), fault),
    done: (request, { name, issued }) =>
      issuedKeyPage(request, deps, texts(request).keys.issued.rotated(name), issued),
  });

  registerForm(app, deps, `${path}/:keyId/revoke`, {
    rule,
    params,
    body: RevokeForm,
    change: async (request, operator) => {
      const key = await requireKey(request, visibleKeysOf);
      if (request.body.name.trim() !== key.name.trim()) {
        throw new FormRefused('name', texts(request).keys.revocation.wrongName);
      }
      return revokeKey(operator, key.id);
    },
    again: async (request, fault) =>
      keyPage(request, deps, await requireKey(request, visibleKeysOf), fault),
    done: (request, { id, name }) =>
      redirectTo(ownPath(request, `${place}/${id}`), texts(request).keys.revocation.revoked(name)),
  });

  /** @throws ApiError E3001 for a missing key, and for one of others. */
  async function requireKey(
    request: FastifyRequest & { readonly params: { readonly keyId: string } },
    holder: (membership: Membership) => KeyHolder,
  ): Promise<KeyWithUse> {
    const key = await findHeldKey(db, holder(membershipOf(request)), request.params.keyId);
    if (key === undefined) throw new ApiError('E3001');
    return key;
  }
}
