import type { FastifyRequest } from 'fastify';
import { REQUEST_RETENTION_DAYS, REQUEST_RETENTION_MS } from '#accounts/requests/stored-fields.ts';
import { ERROR_CODES } from '#errors/catalogue.ts';
import {
  countErrors,
  type ErrorCount,
  listRequests,
} from '#storage/repositories/keys/request-log.ts';
import { type Html, html } from '../../../pages/html.ts';
import { membershipOf } from '../../hooks/access.ts';
import type { PanelDependencies } from '../../hooks/dependencies.ts';
import { texts } from '../../hooks/language.ts';
import { count } from '../../kit/format.ts';
import { ownUrl } from '../../kit/navigation.ts';
import { addressOf } from '../../kit/page-address.ts';
import { PLACES } from '../../kit/places.ts';
import { renderTable } from '../../kit/table.ts';
import { meaningOf } from './detail.ts';
import { holderOf } from './index.ts';
import { renderRequests } from './list.ts';

/** Requests that are shown. */
const REQUESTS_SHOWN = 100;
/** Most failed requests that are counted of a key and error: more cost milliseconds, and tell nothing new. */
const ERRORS_COUNTED = 1_000;

/** How often a key's requests failed and with what, and its last requests. */
export async function renderKeyRequests(
  request: FastifyRequest,
  deps: PanelDependencies,
  keyId: string,
): Promise<Html> {
  const words = texts(request);
  const { requests: text } = words;
  const membership = membershipOf(request);
  const since = new Date(deps.clock() - REQUEST_RETENTION_MS);
  const counted = { codes: ERROR_CODES, since, most: ERRORS_COUNTED };
  const [rows, errors] = await Promise.all([
    listRequests(deps.reports, holderOf(membership), { keyId }, undefined, REQUESTS_SHOWN),
    countErrors(deps.reports, membership.accountId, keyId, counted),
  ]);
  const url = ownUrl(request, `${PLACES[membership.kind].developer}/requests`);
  return html`<section aria-labelledby="errors"><h2 id="errors">${text.errorsTitle(REQUEST_RETENTION_DAYS)}</h2>
${
  errors.length === 0
    ? html`<p>${text.noErrors}</p>`
    : renderTable<ErrorCount>(
        text.errorsTable,
        [
          {
            title: text.error,
            cell: ({ errorCode }) =>
              html`<a href="${deps.publicUrl}/docs/errors/${errorCode}">${errorCode}</a>`,
          },
          {
            title: text.requestsCount,
            number: true,
            cell: ({ errorCode: code, requests, isMore }) =>
              html`<a href="${addressOf(url, { key: keyId, code })}">${isMore ? words.lists.moreThan(count(words, ERRORS_COUNTED)) : count(words, requests)}</a>`,
          },
          { title: text.meaning, cell: ({ errorCode }) => meaningOf(words, errorCode) },
        ],
        errors,
      )
}</section>
<section aria-labelledby="requests"><h2 id="requests">${text.lastTitle}</h2>
${
  rows.length === 0
    ? html`<p>${text.lastEmpty}</p>`
    : html`${renderRequests(words, url, rows, false)}
<p><a href="${addressOf(url, { key: keyId })}">${text.more}</a></p>`
}</section>`;
}
