import { REQUEST_RETENTION_DAYS, REQUEST_RETENTION_MS } from '#accounts/requests/stored-fields.ts';
import { ERROR_CODES } from '#errors/catalogue.ts';
import {
  countErrors,
  type ErrorCount,
  type LogHolder,
  listRequests,
  type RequestRow,
} from '#storage/repositories/keys/request-log.ts';
import { type Html, html } from '../../../pages/html.ts';
import type { PanelDependencies } from '../../hooks/dependencies.ts';
import { count } from '../../kit/format.ts';
import { addressOf } from '../../kit/page-address.ts';
import { renderTable } from '../../kit/table.ts';
import type { PanelTexts } from '../../texts/panel-texts.ts';
import { meaningOf } from './detail.ts';
import { renderRequests } from './list.ts';

/** Requests that are shown. */
const REQUESTS_SHOWN = 100;
/** Most failed requests that are counted of a key and error: more cost milliseconds, and tell nothing new. */
const ERRORS_COUNTED = 1_000;

interface KeyRequests {
  readonly rows: readonly RequestRow[];
  readonly errors: readonly ErrorCount[];
}

interface KeyRequestsFrame {
  /** Of the request log, with the base path. */
  readonly url: string;
  readonly publicUrl: string;
  readonly keyId: string;
}

/** Reads what `renderKeyRequests` shows. */
export async function readKeyRequests(
  { clock, reports }: Pick<PanelDependencies, 'clock' | 'reports'>,
  holder: LogHolder,
  keyId: string,
): Promise<KeyRequests> {
  const since = new Date(clock() - REQUEST_RETENTION_MS);
  const counted = { codes: ERROR_CODES, since, most: ERRORS_COUNTED };
  const [rows, errors] = await Promise.all([
    listRequests(reports, holder, { keyId }, undefined, REQUESTS_SHOWN),
    countErrors(reports, holder.accountId, keyId, counted),
  ]);
  return { rows, errors };
}

/** How often a key's requests failed and with what, and its last requests. */
export function renderKeyRequests(
  words: PanelTexts,
  { rows, errors }: KeyRequests,
  { url, publicUrl, keyId: key }: KeyRequestsFrame,
): Html {
  const { requests: text } = words;
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
              html`<a href="${addressOf(url, { key, code })}">${isMore ? words.lists.moreThan(count(words, ERRORS_COUNTED)) : count(words, requests)}</a>`,
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
<p><a href="${addressOf(url, { key })}">${text.more}</a></p>`
}</section>`;
}
