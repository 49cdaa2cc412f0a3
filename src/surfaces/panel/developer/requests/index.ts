import { Type } from '@sinclair/typebox';
import type { FastifyRequest } from 'fastify';
import { ownKeysOf, visibleKeysOf } from '#accounts/access/key-holders.ts';
import { isAllowed, isChangeAllowed } from '#accounts/access/permissions.ts';
import { explainSignature } from '#accounts/keys/explain-signature.ts';
import {
  REQUEST_RETENTION_DAYS,
  REQUESTS_PER_ACCOUNT_MAXIMUM,
} from '#accounts/requests/stored-fields.ts';
import { ApiError } from '#errors/api-error.ts';
import type { TypedApp } from '#http/typed-app.ts';
import { Uuid } from '#schemas/scalars.ts';
import { parseSentTarget } from '#signing/sent-target.ts';
import { type KeyWithUse, listKeysWithUse } from '#storage/repositories/keys/api-keys.ts';
import {
  findRequest,
  type LogHolder,
  listRequests,
} from '#storage/repositories/keys/request-log.ts';
import type { Membership } from '#storage/repositories/people/memberships.ts';
import { basePathOf } from '../../../pages/base-path.ts';
import { html } from '../../../pages/html.ts';
import { membershipOf, withPermission } from '../../hooks/access.ts';
import type { PanelDependencies } from '../../hooks/dependencies.ts';
import { renderNoMatch } from '../../kit/filters.ts';
import type { FormFault } from '../../kit/form.ts';
import { count } from '../../kit/format.ts';
import { accountPath } from '../../kit/navigation.ts';
import { PLACES } from '../../kit/places.ts';
import { isFirstPage, renderNoneFurther } from '../../kit/table.ts';
import { texts } from '../../texts/index.ts';
import { requestPage } from './detail.ts';
import { ExplainForm, ExplainQuery, explainPage, METHOD } from './explain.ts';
import { renderFindings } from './findings.ts';
import {
  isFiltered,
  type RequestPage,
  RequestsQuery,
  renderRequestFilters,
  renderRequestPaging,
  renderRequests,
  requestsUrl,
  type WantedRequests,
} from './list.ts';

const PAGE_SIZE = 25;
const params = Type.Object({ requestId: Uuid('ID of the request.') });
const text = texts.requests;

/** The request log of a merchant's, or a partner's members', API keys; signatures explained. */
export function registerRequests(app: TypedApp, deps: PanelDependencies): void {
  registerRequestsOf('merchant', app, deps);
  registerRequestsOf('partner', app, deps);
}

function registerRequestsOf(kind: Membership['kind'], app: TypedApp, deps: PanelDependencies) {
  const {
    db,
    explaining: budget,
    keyring,
    limits,
    panelUrl,
    publicUrl,
    reports,
    requestsKept,
  } = deps;
  const path = `/${kind}s/:accountId${PLACES[kind].developer}`;
  const accountUrl = (request: FastifyRequest) =>
    basePathOf(panelUrl) + accountPath(membershipOf(request));
  const developerUrl = (request: FastifyRequest) => accountUrl(request) + PLACES[kind].developer;

  const listing = withPermission(kind, 'requests.read', { querystring: RequestsQuery });
  app.get(`${path}/requests`, listing, async request => {
    const wanted = request.query;
    const holder = holderOf(membershipOf(request));
    const url = `${developerUrl(request)}/requests`;
    const page = await readPage(holder, wanted);
    const hasNone = page.rows.length === 0;
    const renderEmpty = () => {
      if (!isFirstPage(wanted)) return renderNoneFurther(texts, requestsUrl(url, wanted));
      return isFiltered(wanted)
        ? renderNoMatch(texts, text.noneMatch, url)
        : html`<p>${text.empty(requestsKept, REQUEST_RETENTION_DAYS, count(texts, REQUESTS_PER_ACCOUNT_MAXIMUM))}</p>`;
    };
    return {
      title: text.title,
      lead: text.lead,
      content: html`${(!hasNone || isFiltered(wanted)) && renderRequestFilters(url, wanted, await listKeysWithUse(reports, holder.keys))}
${hasNone ? renderEmpty() : renderRequests(url, page.rows, true)}
${renderRequestPaging(url, wanted, page)}`,
    };
  });

  const showing = withPermission(kind, 'requests.read', { params });
  app.get(`${path}/requests/:requestId`, showing, async request => {
    const membership = membershipOf(request);
    const row = await findRequest(reports, holderOf(membership), request.params.requestId);
    if (row === undefined) throw new ApiError('E3001');
    const seesPayments = isAllowed(membership.role, 'payments.read');
    return requestPage(row, {
      developerUrl: developerUrl(request),
      paymentsUrl: seesPayments ? `${accountUrl(request)}/payments` : null,
      publicUrl,
    });
  });

  const asking = withPermission(kind, 'signatures.explain', { querystring: ExplainQuery });
  app.get(`${path}/explain`, asking, async request => {
    // Without the form, which an inactive account could not send.
    if (!isChangeAllowed(membershipOf(request), 'signatures.explain')) {
      const { title, lead } = text.explain;
      return { title, lead, content: html`` };
    }
    return explainPage(request.query, await frameOf(request));
  });

  const explaining = withPermission(kind, 'signatures.explain', { body: ExplainForm });
  app.post(`${path}/explain`, explaining, async request => {
    const fields = request.body;
    const frame = await frameOf(request);
    const key = frame.keys.find(({ id }) => id === fields.key);
    const target = parseSentTarget(fields.url.trim());
    const refuse = (fault: FormFault) => explainPage(fields, { ...frame, fault });
    if (key === undefined) return refuse({ field: 'key', message: text.explain.chooseKey });
    if (!METHOD.test(fields.method)) {
      return refuse({ field: 'method', message: text.explain.badMethod });
    }
    if (target === undefined) return refuse({ field: 'url', message: text.explain.badUrl });
    if (!budget.has(true)) return refuse({ field: null, message: text.explain.busy });
    await limits.countExplanation(request);
    const sent = { ...fields, ...target, method: fields.method.toUpperCase() };
    const found = budget.spend(() => explainSignature(keyring, key, sent));
    if (found === null) return refuse({ field: 'key', message: text.explain.chooseKey });
    return explainPage(fields, { ...frame, result: renderFindings(found, found.tried) });
  });

  async function readPage(holder: LogHolder, wanted: WantedRequests): Promise<RequestPage> {
    const { key: keyId, code: errorCode, status, after, before } = wanted;
    const id = after ?? before;
    const isNewer = after === undefined && before !== undefined;
    const cursor = id && ({ direction: isNewer ? 'newer' : 'older', id } as const);
    const filters = { keyId, errorCode, status };
    const found = await listRequests(reports, holder, filters, cursor || undefined, PAGE_SIZE + 1);
    const rows = found.slice(0, PAGE_SIZE);
    const hasMore = found.length > PAGE_SIZE;
    return isNewer
      ? { rows: rows.toReversed(), hasNewer: hasMore, hasOlder: true }
      : { rows, hasNewer: after !== undefined, hasOlder: hasMore };
  }

  /** What surrounds the form. Its keys are those that the visitor may have signed with and that are not revoked. */
  async function frameOf(request: FastifyRequest) {
    const keys: KeyWithUse[] = await listKeysWithUse(db, ownKeysOf(membershipOf(request)));
    const url = developerUrl(request);
    return {
      url: `${url}/explain`,
      keysUrl: `${url}/keys`,
      keys: keys.filter(({ secret }) => secret !== null),
    };
  }
}

/** The keys whose requests somebody sees. */
export function holderOf(membership: Membership): LogHolder {
  return { accountId: membership.accountId, keys: visibleKeysOf(membership) };
}
