import { REQUEST_RETENTION_DAYS } from '#accounts/requests/stored-fields.ts';
import type { ErrorCount, RequestRow } from '#storage/repositories/keys/request-log.ts';
import { type Html, html } from '../../../pages/html.ts';
import { count } from '../../kit/format.ts';
import { addressOf } from '../../kit/page-address.ts';
import { renderTable } from '../../kit/table.ts';
import { texts } from '../../texts/index.ts';
import { meaningOf } from './detail.ts';
import { renderRequests } from './list.ts';

const text = texts.requests;

interface KeyRequestsFrame {
  /** Of the request log, with the base path. */
  readonly url: string;
  readonly publicUrl: string;
  readonly keyId: string;
}

/** Most failed requests that are counted of a key and error: more cost milliseconds, and tell nothing new. */
export const ERRORS_COUNTED = 1_000;

/** How often a key's requests failed and with what, and its last requests. */
export function renderKeyRequests(
  rows: readonly RequestRow[],
  errors: readonly ErrorCount[],
  { url, publicUrl, keyId: key }: KeyRequestsFrame,
): Html {
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
              html`<a href="${publicUrl}/docs/errors/${errorCode}">${errorCode}</a>`,
          },
          {
            title: text.requestsCount,
            number: true,
            cell: ({ errorCode: code, requests, isMore }) =>
              html`<a href="${addressOf(url, { key, code })}">${isMore ? texts.lists.moreThan(count(texts, ERRORS_COUNTED)) : count(texts, requests)}</a>`,
          },
          { title: text.meaning, cell: ({ errorCode }) => meaningOf(errorCode) },
        ],
        errors,
      )
}</section>
<section aria-labelledby="requests"><h2 id="requests">${text.lastTitle}</h2>
${
  rows.length === 0
    ? html`<p>${text.lastEmpty}</p>`
    : html`${renderRequests(url, rows, false)}
<p><a href="${addressOf(url, { key })}">${text.more}</a></p>`
}</section>`;
}
