import { randomUUID } from 'node:crypto';
import type { Static } from '@sinclair/typebox';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { parseName } from '../../accounts/input.ts';
import { OperationRefused, type Operator } from '../../audit/audited-change.ts';
import { untilHeard } from '../../database/change-feed.ts';
import { transact } from '../../database/transaction.ts';
import { ApiError } from '../../errors/api-error.ts';
import type { TypedApp } from '../../http/typed-app.ts';
import { createKey, type IssuedKey, revokeKey, rotateKey } from '../../keys/manage-keys.ts';
import { MERCHANT_SCOPES } from '../../keys/scopes.ts';
import { basePathOf } from '../../pages/base-path.ts';
import {
  findHeldKey,
  type KeyHolder,
  type KeyWithUse,
  listKeysWithUse,
} from '../../repositories/keys/api-keys.ts';
import type { Membership } from '../../repositories/people/memberships.ts';
import { useIntent } from '../../repositories/people/sign-in-counters.ts';
import { parseDateBound } from '../../time/date-bound.ts';
import { ownerOf, ownKeysOf, visibleKeysOf } from '../access/key-holders.ts';
import { isAllowed } from '../access/permissions.ts';
import type { PanelDependencies } from '../dependencies.ts';
import type { FormFault } from '../form.ts';
import { membershipOf, operatorOf, sessionOf } from '../hooks/access.ts';
import { accountPath } from '../navigation.ts';
import { leadTo, sendPage } from '../pages.ts';
import { KeyParams, MerchantKeyForm, PartnerKeyForm, RevokeForm, RotateForm } from './forms.ts';
import {
  alreadyDonePage,
  EMPTY_FORM,
  EXPIRIES,
  issuedKeyPage,
  keyPage,
  keysPage,
  type NewKeyForm,
  newKeyPage,
} from './views.ts';

const DAY_MS = 24 * 60 * 60_000;
/** Below an account's own path. */
const PATHS: Readonly<Record<Membership['kind'], string>> = {
  merchant: '/settings/developer/keys',
  partner: '/developer/keys',
};

type KeyRequest = FastifyRequest & { params: Static<typeof KeyParams> };

/** API keys of a merchant, or of a partner's members: what is shown once is made once. */
export function registerKeys(app: TypedApp, deps: PanelDependencies): void {
  registerKeysOf('merchant', app, deps);
  registerKeysOf('partner', app, deps);
}

function registerKeysOf(kind: Membership['kind'], app: TypedApp, deps: PanelDependencies): void {
  const { clock, db, keyring, limits, panelUrl, publicUrl } = deps;
  const path = `/${kind}s/:accountId${PATHS[kind]}`;
  const rule = (permission: 'keys.read' | 'keys.manage') => ({
    config: { panel: { for: kind, permission } },
  });
  const pathOf = (request: FastifyRequest) => accountPath(membershipOf(request)) + PATHS[kind];
  const urlOf = (request: FastifyRequest) => basePathOf(panelUrl) + pathOf(request);

  app.get(path, rule('keys.read'), async (request, reply) => {
    const membership = membershipOf(request);
    const page = keysPage({
      ...{ url: urlOf(request), publicUrl, now: new Date(clock()) },
      keys: await listKeysWithUse(db, visibleKeysOf(membership)),
      mayManage: isAllowed(membership.role, 'keys.manage'),
    });
    return sendPage(request, reply, deps, page);
  });

  app.get(`${path}/new`, rule('keys.manage'), (request, reply) =>
    showForm(request, reply, EMPTY_FORM, null),
  );

  const body = kind === 'merchant' ? MerchantKeyForm : PartnerKeyForm;
  app.post(`${path}/new`, { ...rule('keys.manage'), schema: { body } }, async (request, reply) => {
    const { intent, name, expiry, date, ...boxes } = request.body;
    const ticks: Readonly<Record<string, string | undefined>> = boxes;
    const scopes = MERCHANT_SCOPES.filter(scope => ticks[scope] === 'on');
    const form = { name, expiry, date, scopes };
    const fault = findFault(form);
    if (fault !== null) return showForm(request, reply, form, fault);
    try {
      const issued = await once(request, intent, operator =>
        createKey(operator, keyring, {
          owner: ownerOf(membershipOf(request)),
          name: form.name,
          ...(kind === 'merchant' ? { scopes } : {}),
          expiresAt: expiryOf(form),
        }),
      );
      return showIssued(request, reply, 'Your new API key', issued);
    } catch (error) {
      if (!(error instanceof OperationRefused)) throw error;
      return showForm(request, reply, form, { field: null, message: error.message });
    }
  });

  app.get(
    `${path}/:keyId`,
    { ...rule('keys.read'), schema: { params: KeyParams } },
    async (request, reply) => show(request, reply, await requireKey(request, visibleKeysOf), null),
  );

  const rotate = { ...rule('keys.manage'), schema: { params: KeyParams, body: RotateForm } };
  app.post(`${path}/:keyId/rotate`, rotate, async (request, reply) => {
    const key = await requireKey(request, ownKeysOf);
    const { intent, grace } = request.body;
    try {
      const issued = await once(request, intent, operator =>
        rotateKey(operator, keyring, key.id, grace === 'no'),
      );
      return showIssued(request, reply, `The new secret of ${key.name}`, issued);
    } catch (error) {
      if (!(error instanceof OperationRefused)) throw error;
      return show(request, reply, key, { field: null, message: error.message });
    }
  });

  const revoke = { ...rule('keys.manage'), schema: { params: KeyParams, body: RevokeForm } };
  app.post(`${path}/:keyId/revoke`, revoke, async (request, reply) => {
    const key = await requireKey(request, visibleKeysOf);
    if (request.body.name.trim() !== key.name.trim()) {
      const message = 'This is not the name of the key. Nothing was revoked.';
      return show(request, reply, key, { field: 'name', message });
    }
    try {
      await revokeKey(operatorOf(request, db, clock), key.id);
    } catch (error) {
      if (!(error instanceof OperationRefused)) throw error;
      return show(request, reply, key, { field: null, message: error.message });
    }
    return leadTo(reply, panelUrl, `${pathOf(request)}/${key.id}`);
  });

  async function requireKey(
    request: KeyRequest,
    holderOf: (membership: Membership) => KeyHolder,
  ): Promise<KeyWithUse> {
    const key = await findHeldKey(db, holderOf(membershipOf(request)), request.params.keyId);
    if (key === undefined) throw new ApiError('E3001');
    return key;
  }

  /** @returns undefined where the form was sent before. */
  async function once(
    request: FastifyRequest,
    intent: string,
    issue: (operator: Operator) => Promise<IssuedKey>,
  ): Promise<IssuedKey | undefined> {
    await limits.countSecret(request);
    const { id: personId } = sessionOf(request).person;
    const issued = await transact(db, async tx => {
      const row = { id: intent, person_id: personId, created_at: new Date(clock()) };
      if (!(await useIntent(tx, row))) return undefined;
      return issue({ ...operatorOf(request, db, clock), db: tx });
    });
    await untilHeard(db);
    return issued;
  }

  function showIssued(
    request: FastifyRequest,
    reply: FastifyReply,
    title: string,
    issued: IssuedKey | undefined,
  ): FastifyReply {
    const url = urlOf(request);
    if (issued === undefined) return sendPage(request, reply, deps, alreadyDonePage(url), 409);
    return sendPage(
      request,
      reply,
      deps,
      issuedKeyPage(title, issued, { listUrl: url, publicUrl }),
    );
  }

  function showForm(
    request: FastifyRequest,
    reply: FastifyReply,
    form: NewKeyForm,
    fault: FormFault | null,
  ): FastifyReply {
    const page = newKeyPage({
      ...{ url: urlOf(request), intent: randomUUID(), form, fault },
      withScopes: kind === 'merchant',
    });
    return sendPage(request, reply, deps, page, fault === null ? 200 : 422);
  }

  function show(
    request: FastifyRequest,
    reply: FastifyReply,
    key: KeyWithUse,
    fault: FormFault | null,
  ): FastifyReply {
    const membership = membershipOf(request);
    const mayManage = isAllowed(membership.role, 'keys.manage');
    const isOwn = membership.kind === 'merchant' || key.partner_member_id === membership.memberId;
    const page = keyPage({
      ...{ url: `${urlOf(request)}/${key.id}`, key, fault, intent: randomUUID() },
      now: new Date(clock()),
      may: { rotate: mayManage && isOwn, revoke: mayManage },
    });
    return sendPage(request, reply, deps, page, fault === null ? 200 : 422);
  }

  function findFault({ name, expiry, date, scopes }: NewKeyForm): FormFault | null {
    if (parseName(name) === undefined) {
      return { field: 'name', message: 'Give it a name of 1 to 200 characters on one line.' };
    }
    if (kind === 'merchant' && scopes.length === 0) {
      return { field: 'scopes', message: 'Tick at least one of what it may do.' };
    }
    if (!EXPIRIES.some(({ value }) => value === expiry)) {
      return { field: 'expiry', message: 'Choose when it expires.' };
    }
    if (expiry === 'date' && !/^\d{4}-\d{2}-\d{2}$/.test(date)) {
      return { field: 'date', message: 'Choose the date on which it expires.' };
    }
    const expiresAt = expiryOf({ expiry, date });
    if (expiry === 'date' && (expiresAt === undefined || expiresAt.getTime() <= clock())) {
      return { field: 'date', message: 'Choose a date that is still to come.' };
    }
    return null;
  }

  function expiryOf({ expiry, date }: Pick<NewKeyForm, 'expiry' | 'date'>): Date | undefined {
    if (expiry === 'never') return undefined;
    if (expiry === 'date') return parseDateBound(date);
    return new Date(clock() + Number(expiry) * DAY_MS);
  }
}
