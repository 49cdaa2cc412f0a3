import { type Static, Type } from '@sinclair/typebox';
import { KEY_ID } from '#accounts/input.ts';
import { ERROR_CODES, ERRORS } from '#errors/catalogue.ts';
import { StringEnum, Uuid } from '#schemas/scalars.ts';
import type { RequestRow } from '#storage/repositories/keys/request-log.ts';
import { breakable, type Html, html } from '../../../pages/html.ts';
import { renderChoice, renderFilters } from '../../kit/filters.ts';
import { count, dateTime } from '../../kit/format.ts';
import { addressOf } from '../../kit/page-address.ts';
import { type Column, renderPaging, renderTable } from '../../kit/table.ts';
import { texts } from '../../texts/index.ts';

const text = texts.requests;

/** Longest part of a target that a list shows, in characters. */
const TARGET_SHOWN = 60;
/** Keys to choose from: more would make the page long. */
export const KEYS_SHOWN = 100;
/** Statuses of what has no error. */
const SUCCESSES = [200, 201];

/** The filters of a list, and its page. */
export const RequestsQuery = Type.Object({
  key: Type.Optional(Type.String({ pattern: KEY_ID.source })),
  code: Type.Optional(StringEnum(ERROR_CODES, 'Code of the error.')),
  status: Type.Optional(Type.Integer({ minimum: 100, maximum: 599 })),
  /** IDs of the requests right before and after the page. */
  after: Type.Optional(Uuid('Only older ones.')),
  before: Type.Optional(Uuid('Only newer ones, where there is no `after`.')),
});

export type WantedRequests = Static<typeof RequestsQuery>;

/** A key in the choice of them. */
interface KeyName {
  readonly id: string;
  readonly name: string;
}

export function isFiltered({ key, code, status }: WantedRequests): boolean {
  return key !== undefined || code !== undefined || status !== undefined;
}

/** The address of a list with its filters. */
export function requestsUrl(
  url: string,
  { key, code, status }: WantedRequests,
  place: Pick<WantedRequests, 'after' | 'before'> = {},
): string {
  return addressOf(url, { key, code, status: status?.toString(), ...place });
}

export function renderRequestFilters(
  url: string,
  wanted: WantedRequests,
  keys: readonly KeyName[],
): Html {
  const shown = keys.filter(({ id }, index) => index < KEYS_SHOWN || id === wanted.key);
  const statuses = new Set([...SUCCESSES, ...Object.values(ERRORS).map(({ status }) => status)]);
  const inOrder = [...statuses].toSorted((a, b) => a - b).map(String);
  return renderFilters(texts, url, [
    renderChoice(
      texts,
      'key',
      text.key,
      shown.map(({ id, name }) => [id, name]),
      wanted.key,
    ),
    renderChoice(
      texts,
      'code',
      text.error,
      ERROR_CODES.map(code => [code, code]),
      wanted.code,
    ),
    renderChoice(
      texts,
      'status',
      text.status,
      inOrder.map(status => [status, status]),
      wanted.status?.toString(),
    ),
  ]);
}

/**
 * @param url Of the request log, with the base path.
 * @param withKey Whether the requests are of several keys.
 */
export function renderRequests(url: string, rows: readonly RequestRow[], withKey: boolean): Html {
  const key: Column<RequestRow> = {
    title: text.key,
    secondary: true,
    cell: request => request.key_name,
  };
  return renderTable<RequestRow>(
    text.table,
    [
      {
        title: text.time,
        cell: ({ id, at }) => html`<a href="${url}/${id}">${dateTime(texts, at)}</a>`,
      },
      { title: text.status, cell: renderOutcome },
      {
        title: text.request,
        cell: ({ method, target }) => html`<code>${method} ${breakable(shorten(target))}</code>`,
      },
      ...(withKey ? [key] : []),
      {
        title: text.took,
        number: true,
        secondary: true,
        cell: ({ milliseconds }) => text.milliseconds(count(texts, milliseconds)),
      },
    ],
    rows,
  );
}

function shorten(target: string): string {
  return target.length > TARGET_SHOWN ? `${target.slice(0, TARGET_SHOWN)}…` : target;
}

/** Status and error, and of how many requests. */
export function renderOutcome({ status, error_code: code, requests }: RequestRow): Html {
  return html`<span class="tag ${code === null ? 'good' : 'bad'}">${status}${code !== null && ` ${code}`}</span>${
    requests > 1 && html` ${text.times(count(texts, requests))}`
  }`;
}

/** Links to the pages before and after this one, if there are any. */
export function renderRequestPaging(
  url: string,
  wanted: WantedRequests,
  { rows, hasNewer, hasOlder }: RequestPage,
): Html | null {
  const [first, last] = [rows[0], rows.at(-1)];
  return renderPaging(
    texts,
    hasNewer && first !== undefined ? requestsUrl(url, wanted, { before: first.id }) : null,
    hasOlder && last !== undefined ? requestsUrl(url, wanted, { after: last.id }) : null,
  );
}

export interface RequestPage {
  readonly rows: readonly RequestRow[];
  readonly hasNewer: boolean;
  readonly hasOlder: boolean;
}
