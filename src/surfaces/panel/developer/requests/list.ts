import { type Static, Type } from '@sinclair/typebox';
import { KEY_ID } from '#accounts/input.ts';
import { ERROR_CODES, ERRORS } from '#errors/catalogue.ts';
import { StringEnum } from '#schemas/scalars.ts';
import type { RequestRow } from '#storage/repositories/keys/request-log.ts';
import { breakable, type Html, html } from '../../../pages/html.ts';
import { renderChoice } from '../../kit/filters.ts';
import { count, exactTime } from '../../kit/format.ts';
import { PlaceQuery } from '../../kit/list.ts';
import { type Column, renderTable } from '../../kit/table.ts';
import type { PanelTexts } from '../../texts/panel-texts.ts';

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
  ...PlaceQuery.properties,
});

export type WantedRequests = Static<typeof RequestsQuery>;

/** A key in the choice of them. */
interface KeyName {
  readonly id: string;
  readonly name: string;
}

export function requestFilters(
  words: PanelTexts,
  { key, code, status }: WantedRequests,
  keys: readonly KeyName[],
): Html[] {
  const { requests: text } = words;
  const shown = keys.filter(({ id }, index) => index < KEYS_SHOWN || id === key);
  const names = shown.map(({ id, name }) => [id, name] as const);
  const statuses = new Set([...SUCCESSES, ...Object.values(ERRORS).map(each => each.status)]);
  const inOrder = [...statuses].toSorted((a, b) => a - b).map(String);
  const same = (values: readonly string[]) => values.map(value => [value, value] as const);
  return [
    renderChoice(words, 'key', text.key, names, key),
    renderChoice(words, 'code', text.error, same(ERROR_CODES), code),
    renderChoice(words, 'status', text.status, same(inOrder), status?.toString()),
  ];
}

/**
 * @param url Of the request log, with the base path.
 * @param withKey Whether the requests are of several keys.
 */
export function renderRequests(
  words: PanelTexts,
  url: string,
  rows: readonly RequestRow[],
  withKey: boolean,
): Html {
  const { requests: text } = words;
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
        cell: ({ id, at }) => html`<a href="${url}/${id}">${exactTime(words, at)}</a>`,
      },
      { title: text.status, cell: row => renderOutcome(words, row) },
      {
        title: text.request,
        cell: ({ method, target }) => html`<code>${method} ${breakable(shorten(target))}</code>`,
      },
      ...(withKey ? [key] : []),
      {
        title: text.took,
        number: true,
        secondary: true,
        cell: ({ milliseconds }) => text.milliseconds(count(words, milliseconds)),
      },
    ],
    rows,
  );
}

function shorten(target: string): string {
  return target.length > TARGET_SHOWN ? `${target.slice(0, TARGET_SHOWN)}…` : target;
}

/** Status and error, and of how many requests. */
export function renderOutcome(
  words: PanelTexts,
  { status, error_code: code, requests }: RequestRow,
): Html {
  return html`<span class="tag ${code === null ? 'good' : 'bad'}">${status}${code !== null && ` ${code}`}</span>${
    requests > 1 && html` ${words.requests.times(count(words, requests))}`
  }`;
}
