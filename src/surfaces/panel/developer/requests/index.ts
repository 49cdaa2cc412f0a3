import { Type } from '@sinclair/typebox';
import { visibleKeysOf } from '#accounts/access/key-holders.ts';
import {
  REQUEST_RETENTION_DAYS,
  REQUESTS_PER_ACCOUNT_MAXIMUM,
} from '#accounts/requests/stored-fields.ts';
import { ApiError } from '#errors/api-error.ts';
import type { TypedApp } from '#http/typed-app.ts';
import { csvParts } from '#payments/csv.ts';
import { Uuid } from '#schemas/scalars.ts';
import { listKeysWithUse } from '#storage/repositories/keys/api-keys.ts';
import {
  findRequest,
  type LogHolder,
  listRequests,
  type RequestRow,
} from '#storage/repositories/keys/request-log.ts';
import type { Membership } from '#storage/repositories/people/memberships.ts';
import { utcDay } from '#time/days.ts';
import { html } from '../../../pages/html.ts';
import { membershipOf, withPermission } from '../../hooks/access.ts';
import type { PanelDependencies } from '../../hooks/dependencies.ts';
import { texts } from '../../hooks/language.ts';
import { type Exports, readAll } from '../../kit/exports.ts';
import { count } from '../../kit/format.ts';
import { filtersIn, type ReadRows, readPage, renderList } from '../../kit/list.ts';
import { ownUrl } from '../../kit/navigation.ts';
import { addressOf } from '../../kit/page-address.ts';
import { PLACES } from '../../kit/places.ts';
import { requestPage } from './detail.ts';
import { registerExplanations } from './explain.ts';
import { REQUEST_COLUMNS } from './export-columns.ts';
import { RequestsQuery, renderRequests, requestFilters, type WantedRequests } from './list.ts';

const PAGE_SIZE = 25;
const params = Type.Object({ requestId: Uuid('ID of the request.') });

/** The request log of a merchant's, or a partner's members', API keys; signatures explained. */
export function registerRequests(app: TypedApp, deps: PanelDependencies, exports: Exports): void {
  for (const kind of ['merchant', 'partner'] as const) {
    registerRequestsOf(kind, app, deps, exports);
    registerExplanations(kind, app, deps);
  }
}

function registerRequestsOf(
  kind: Membership['kind'],
  app: TypedApp,
  deps: PanelDependencies,
  exports: Exports,
): void {
  const { clock, reports, requestsKept } = deps;
  const place = `${PLACES[kind].developer}/requests`;
  const path = `/${kind}s/:accountId${place}`;
  const reading = withPermission(kind, 'requests.read', { querystring: RequestsQuery });

  app.get(path, reading, async request => {
    const words = texts(request);
    const { title, lead, empty, noneMatch: noMatch } = words.requests;
    const { query } = request;
    const holder = holderOf(membershipOf(request));
    const url = ownUrl(request, place);
    const [page, keys] = await Promise.all([
      readPage(query, PAGE_SIZE, readerOf(holder, query)),
      listKeysWithUse(reports, holder.keys),
    ]);
    return {
      title,
      lead,
      content: renderList(words, {
        url,
        query,
        filters: requestFilters(words, query, keys),
        page,
        render: rows => renderRequests(words, url, rows, true),
        none: empty(
          requestsKept,
          REQUEST_RETENTION_DAYS,
          count(words, REQUESTS_PER_ACCOUNT_MAXIMUM),
        ),
        noMatch,
        download: html`<a href="${addressOf(`${url}.csv`, filtersIn(query))}" download>${words.lists.download}</a>`,
      }),
    };
  });

  app.get(`${path}.csv`, reading, (request, reply) => {
    const { query } = request;
    const read = readerOf(holderOf(membershipOf(request)), query);
    return exports.send(request, reply, {
      name: `requests-${utcDay(new Date(clock()))}.csv`,
      action: 'request.export',
      filters: { key: query.key, code: query.code, status: query.status },
      parts: csvParts(REQUEST_COLUMNS, readAll(read)),
    });
  });

  app.get(
    `${path}/:requestId`,
    withPermission(kind, 'requests.read', { params }),
    async request => {
      const holder = holderOf(membershipOf(request));
      const row = await findRequest(reports, holder, request.params.requestId);
      if (row === undefined) throw new ApiError('E3001');
      return requestPage(request, deps, row);
    },
  );

  function readerOf(
    holder: LogHolder,
    { key: keyId, code: errorCode, status }: WantedRequests,
  ): ReadRows<RequestRow> {
    return (cursor, limit) =>
      listRequests(reports, holder, { keyId, errorCode, status }, cursor, limit);
  }
}

/** The keys whose requests somebody sees. */
export function holderOf(membership: Membership): LogHolder {
  return { accountId: membership.accountId, keys: visibleKeysOf(membership) };
}
