import { randomUUID } from 'node:crypto';
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
import { countRequests } from '#storage/repositories/keys/request-log.ts';
import type { Membership } from '#storage/repositories/people/memberships.ts';
import { basePathOf } from '../../../pages/base-path.ts';
import { html } from '../../../pages/html.ts';
import { membershipOf, withPermission } from '../../hooks/access.ts';
import type { PanelDependencies } from '../../hooks/dependencies.ts';
import { texts } from '../../hooks/language.ts';
import type { PanelPage } from '../../kit/document.ts';
import { type FormFault, FormRefused } from '../../kit/form.ts';
import { registerForm } from '../../kit/form-route.ts';
import { renderList } from '../../kit/list.ts';
import { accountPath } from '../../kit/navigation.ts';
import { redirectTo } from '../../kit/pages.ts';
import { PLACES } from '../../kit/places.ts';
import { issueOnce } from '../../kit/secrets.ts';
import { pageAfter } from '../../kit/table.ts';
import { holderOf } from '../requests/index.ts';
import { readKeyRequests, renderKeyRequests } from '../requests/key-requests.ts';
import { KeyParams, KeysQuery, RevokeForm, RotateForm } from './forms.ts';
import { registerNewKey } from './new-key.ts';
import { keysPath, keysRoute } from './paths.ts';
import {
  isOver,
  issuedKeyPage,
  keyPage,
  RECENT_COUNTED,
  renderKeys,
  rotationQuestion,
} from './views.ts';

const HOUR_MS = 60 * 60_000;
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
  const { clock, db, keyring, panelUrl, publicUrl, reports } = deps;
  const path = keysRoute(kind);
  const urlOf = (request: FastifyRequest) => basePathOf(panelUrl) + keysPath(request);
  const rule = { for: kind, permission: 'keys.manage' } as const;
  const params = KeyParams;

  const listing = withPermission(kind, 'keys.read', { querystring: KeysQuery });
  app.get(path, listing, async request => {
    const words = texts(request);
    const { title, lead, create, none } = words.keys;
    const { query } = request;
    const membership = membershipOf(request);
    const url = urlOf(request);
    const keys = await listKeysWithUse(db, visibleKeysOf(membership));
    const { shown: rows, last } = pageAfter(keys, query.after, PAGE_SIZE);
    const frame = { url, now: new Date(clock()), withOwner: kind === 'partner' };
    const mayManage = isChangeAllowed(membership, rule.permission);
    return {
      title,
      lead: lead(`${publicUrl}/docs/quickstart`),
      content: html`${mayManage && html`<p><a class="button" href="${url}/new">${create}</a></p>`}
${renderList(words, {
  url,
  query,
  page: { rows, newer: null, older: last === undefined ? null : { after: last } },
  render: shown => renderKeys(words, shown, frame),
  none,
})}`,
    };
  });

  app.get(`${path}/:keyId`, withPermission(kind, 'keys.read', { params }), async request =>
    show(request, await requireKey(request, visibleKeysOf), null),
  );

  registerForm(app, deps, `${path}/:keyId/rotate`, {
    rule,
    params,
    body: RotateForm,
    ask: async request => {
      const key = await requireKey(request, ownKeysOf);
      const now = new Date(clock());
      // The change is refused.
      if (isOver(key, now)) return null;
      return rotationQuestion(texts(request), key, {
        isAtOnce: request.body.grace === 'no',
        now,
        recent: await countRecent(request, key),
        back: `${keysPath(request)}/${key.id}`,
      });
    },
    change: async request => {
      const { id, name } = await requireKey(request, ownKeysOf);
      const { intent, grace } = request.body;
      const issued = await issueOnce(request, deps, intent, operator =>
        rotateKey(operator, keyring, id, grace === 'no'),
      );
      return { name, issued };
    },
    again: async (request, fault) => show(request, await requireKey(request, ownKeysOf), fault),
    done: (request, { name, issued }) => {
      const words = texts(request);
      const frame = { listUrl: urlOf(request), publicUrl };
      return issuedKeyPage(words, words.keys.issued.rotated(name), issued, frame);
    },
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
    again: async (request, fault) => show(request, await requireKey(request, visibleKeysOf), fault),
    done: (request, { id, name }) =>
      redirectTo(`${keysPath(request)}/${id}`, texts(request).keys.revocation.revoked(name)),
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

  async function show(
    request: FastifyRequest,
    key: KeyWithUse,
    fault: FormFault | null,
  ): Promise<PanelPage> {
    const words = texts(request);
    const membership = membershipOf(request);
    const mayManage = isChangeAllowed(membership, rule.permission);
    const isOwn = membership.kind === 'merchant' || key.partner_member_id === membership.memberId;
    const [recent, requests] = await Promise.all([
      countRecent(request, key),
      readKeyRequests(deps, holderOf(membership), key.id),
    ]);
    const url = `${basePathOf(panelUrl)}${accountPath(membership)}${PLACES[kind].developer}/requests`;
    return keyPage(words, key, fault, {
      url: `${urlOf(request)}/${key.id}`,
      intent: randomUUID(),
      now: new Date(clock()),
      mayRotate: mayManage && isOwn,
      mayRevoke: mayManage,
      recent,
      activity: renderKeyRequests(words, requests, { url, publicUrl, keyId: key.id }),
    });
  }

  /** How many requests were made with a key in the last hour. */
  function countRecent(request: FastifyRequest, { id }: KeyWithUse): Promise<number> {
    const { accountId } = membershipOf(request);
    const since = new Date(clock() - HOUR_MS);
    return countRequests(reports, accountId, id, { since, limit: RECENT_COUNTED + 1 });
  }
}
