import { randomUUID } from 'node:crypto';
import type { Static } from '@sinclair/typebox';
import type { FastifyRequest } from 'fastify';
import { ownerOf, ownKeysOf, visibleKeysOf } from '#accounts/access/key-holders.ts';
import { isChangeAllowed } from '#accounts/access/permissions.ts';
import type { Operator } from '#accounts/audit/audited-change.ts';
import { parseName } from '#accounts/input.ts';
import { createKey, type IssuedKey, revokeKey, rotateKey } from '#accounts/keys/manage-keys.ts';
import { MERCHANT_SCOPES } from '#accounts/keys/scopes.ts';
import { REQUEST_RETENTION_MS } from '#accounts/requests/stored-fields.ts';
import { ApiError } from '#errors/api-error.ts';
import { ERROR_CODES } from '#errors/catalogue.ts';
import type { TypedApp } from '#http/typed-app.ts';
import {
  findHeldKey,
  type KeyHolder,
  type KeyWithUse,
  listKeysWithUse,
} from '#storage/repositories/keys/api-keys.ts';
import { countErrors, listRequests } from '#storage/repositories/keys/request-log.ts';
import type { Membership } from '#storage/repositories/people/memberships.ts';
import { parseDateBound } from '#time/date-bound.ts';
import { basePathOf } from '../../../pages/base-path.ts';
import type { Html } from '../../../pages/html.ts';
import { membershipOf, operatorOf, withPermission } from '../../hooks/access.ts';
import type { PanelDependencies } from '../../hooks/dependencies.ts';
import type { PanelPage } from '../../kit/document.ts';
import { faultOf } from '../../kit/failures.ts';
import type { FormFault } from '../../kit/form.ts';
import { accountPath } from '../../kit/navigation.ts';
import { redirectTo } from '../../kit/pages.ts';
import { PLACES } from '../../kit/places.ts';
import { alreadyDonePage, issueOnce } from '../../kit/secrets.ts';
import { texts } from '../../texts/index.ts';
import { holderOf } from '../requests/index.ts';
import { ERRORS_COUNTED, renderKeyRequests } from '../requests/key-requests.ts';
import {
  KeyParams,
  KeysQuery,
  MerchantKeyForm,
  PartnerKeyForm,
  RevokeForm,
  RotateForm,
} from './forms.ts';
import {
  EMPTY_FORM,
  EXPIRIES,
  issuedKeyPage,
  keyPage,
  keysPage,
  type NewKeyForm,
  newKeyPage,
} from './views.ts';

const {
  form: { faults },
  issued: issuedTexts,
  revocation,
} = texts.keys;

const DAY_MS = 24 * 60 * 60_000;
/** Requests that a key's page shows. */
const REQUESTS_SHOWN = 100;

type KeyRequest = FastifyRequest & { params: Static<typeof KeyParams> };

/**
 * API keys of a merchant, or of a partner's members. A form that is sent twice makes one secret, which is shown once.
 */
export function registerKeys(app: TypedApp, deps: PanelDependencies): void {
  registerKeysOf('merchant', app, deps);
  registerKeysOf('partner', app, deps);
}

function registerKeysOf(kind: Membership['kind'], app: TypedApp, deps: PanelDependencies): void {
  const { clock, db, keyring, panelUrl, publicUrl, reports } = deps;
  const ownPath = `${PLACES[kind].developer}/keys`;
  const path = `/${kind}s/:accountId${ownPath}`;
  const pathOf = (request: FastifyRequest) => accountPath(membershipOf(request)) + ownPath;
  const urlOf = (request: FastifyRequest) => basePathOf(panelUrl) + pathOf(request);

  const listing = withPermission(kind, 'keys.read', { querystring: KeysQuery });
  app.get(path, listing, async request => {
    const membership = membershipOf(request);
    const { after } = request.query;
    const keys = await listKeysWithUse(db, visibleKeysOf(membership));
    return keysPage(keys, {
      after,
      url: urlOf(request),
      publicUrl,
      now: new Date(clock()),
      mayManage: isChangeAllowed(membership, 'keys.manage'),
    });
  });

  app.get(`${path}/new`, withPermission(kind, 'keys.manage'), request =>
    showForm(request, EMPTY_FORM, null),
  );

  const body = kind === 'merchant' ? MerchantKeyForm : PartnerKeyForm;
  app.post(`${path}/new`, withPermission(kind, 'keys.manage', { body }), async request => {
    const { intent, name, expiry, date, ...boxes } = request.body;
    const ticks: Readonly<Record<string, string | undefined>> = boxes;
    const scopes = MERCHANT_SCOPES.filter(scope => ticks[scope] === 'on');
    const form = { name, expiry, date, scopes };
    const fault = findFault(form);
    if (fault !== null) return showForm(request, form, fault);
    const key = {
      owner: ownerOf(membershipOf(request)),
      name,
      // Without a ticked scope the key gets all of them, as the specification says.
      ...(kind === 'merchant' && scopes.length > 0 ? { scopes } : {}),
      expiresAt: expiryOf(form),
    };
    try {
      return await issue(request, intent, issuedTexts.created, operator =>
        createKey(operator, keyring, key),
      );
    } catch (error) {
      return showForm(request, form, faultOf(error, request));
    }
  });

  const params = KeyParams;
  app.get(`${path}/:keyId`, withPermission(kind, 'keys.read', { params }), async request =>
    show(request, await requireKey(request, visibleKeysOf), null),
  );

  const rotating = withPermission(kind, 'keys.manage', { params, body: RotateForm });
  app.post(`${path}/:keyId/rotate`, rotating, async request => {
    const key = await requireKey(request, ownKeysOf);
    const { intent, grace } = request.body;
    try {
      return await issue(request, intent, issuedTexts.rotated(key.name), operator =>
        rotateKey(operator, keyring, key.id, grace === 'no'),
      );
    } catch (error) {
      return show(request, key, faultOf(error, request));
    }
  });

  const revoking = withPermission(kind, 'keys.manage', { params, body: RevokeForm });
  app.post(`${path}/:keyId/revoke`, revoking, async request => {
    const key = await requireKey(request, visibleKeysOf);
    if (request.body.name.trim() !== key.name.trim()) {
      return show(request, key, { field: 'name', message: revocation.wrongName });
    }
    try {
      await revokeKey(operatorOf(request, deps), key.id);
    } catch (error) {
      return show(request, key, faultOf(error, request));
    }
    return redirectTo(`${pathOf(request)}/${key.id}`);
  });

  async function requireKey(
    request: KeyRequest,
    holderOf: (membership: Membership) => KeyHolder,
  ): Promise<KeyWithUse> {
    const key = await findHeldKey(db, holderOf(membershipOf(request)), request.params.keyId);
    if (key === undefined) throw new ApiError('E3001');
    return key;
  }

  /** Makes a secret and shows it, unless the form was sent before: then says so. */
  async function issue(
    request: FastifyRequest,
    intent: string,
    title: string,
    make: (operator: Operator) => Promise<IssuedKey>,
  ): Promise<PanelPage> {
    const issued = await issueOnce(request, deps, intent, make);
    const listUrl = urlOf(request);
    return issued === undefined
      ? alreadyDonePage(texts.keys.done, { url: listUrl, text: texts.keys.title })
      : issuedKeyPage(title, issued, { listUrl, publicUrl });
  }

  function showForm(request: FastifyRequest, form: NewKeyForm, fault: FormFault | null): PanelPage {
    return newKeyPage(form, fault, {
      url: urlOf(request),
      intent: randomUUID(),
      withScopes: kind === 'merchant',
    });
  }

  async function show(
    request: FastifyRequest,
    key: KeyWithUse,
    fault: FormFault | null,
  ): Promise<PanelPage> {
    const membership = membershipOf(request);
    const mayManage = isChangeAllowed(membership, 'keys.manage');
    const isOwn = membership.kind === 'merchant' || key.partner_member_id === membership.memberId;
    return keyPage(key, fault, {
      url: `${urlOf(request)}/${key.id}`,
      intent: randomUUID(),
      now: new Date(clock()),
      mayRotate: mayManage && isOwn,
      mayRevoke: mayManage,
      activity: await readActivity(membership, key),
    });
  }

  /** The key's errors, and its last requests. */
  async function readActivity(membership: Membership, { id: keyId }: KeyWithUse): Promise<Html> {
    const holder = holderOf(membership);
    const since = new Date(clock() - REQUEST_RETENTION_MS);
    const url = `${basePathOf(panelUrl)}${accountPath(membership)}${PLACES[kind].developer}/requests`;
    const rows = await listRequests(reports, holder, { keyId }, undefined, REQUESTS_SHOWN);
    const counted = { codes: ERROR_CODES, since, most: ERRORS_COUNTED };
    const errors = await countErrors(reports, holder.accountId, keyId, counted);
    return renderKeyRequests(rows, errors, { url, publicUrl, keyId });
  }

  function findFault({ name, expiry, date }: NewKeyForm): FormFault | null {
    if (parseName(name) === undefined) return { field: 'name', message: faults.name };
    if (!EXPIRIES.some(each => each === expiry)) {
      return { field: 'expiry', message: faults.expiry };
    }
    if (expiry === 'date' && !/^\d{4}-\d{2}-\d{2}$/.test(date)) {
      return { field: 'date', message: faults.date };
    }
    const expiresAt = expiryOf({ expiry, date });
    if (expiry === 'date' && (expiresAt === undefined || expiresAt.getTime() <= clock())) {
      return { field: 'date', message: faults.pastDate };
    }
    return null;
  }

  function expiryOf({ expiry, date }: Pick<NewKeyForm, 'expiry' | 'date'>): Date | undefined {
    if (expiry === 'never') return undefined;
    if (expiry === 'date') return parseDateBound(date);
    return new Date(clock() + Number(expiry) * DAY_MS);
  }
}
