import type { ListPaymentsQuery } from '#schemas/list-payments.ts';
import type { PaymentObject } from '#schemas/payment.ts';
import { UUID } from '#schemas/uuid.ts';
import type { PaymentStatus } from '../../../database/payment-tables.ts';
import type { PaymentFilters } from '../../../repositories/merchant-payments.ts';
import { parseDateBound, toInclusiveEnd } from '../../../time/date-bound.ts';
import { type Html, html } from '../../pages/html.ts';
import { renderField, renderSelect } from '../form.ts';
import { dateTime, dollars } from '../format.ts';
import { renderStatus } from '../status.ts';
import { renderPaging, renderTable } from '../table.ts';

export const STATUSES: readonly PaymentStatus[] = [
  'pending',
  'successful',
  'unsuccessful',
  'expired',
  'cancelled',
];

/** What the address of a list asks for; whatever is not understood is left out. */
export interface ListRequest {
  readonly status: PaymentStatus | undefined;
  /** YYYY-MM-DD, both days included. */
  readonly from: string | undefined;
  readonly to: string | undefined;
  /** A payment's ID or reference, or a transaction's hash. */
  readonly search: string | undefined;
  readonly cursor: Pick<ListPaymentsQuery, 'startingAfter' | 'endingBefore'>;
}

const DAY = /^\d{4}-\d{2}-\d{2}$/;
const SEARCH_MAXIMUM = 200;

export function readListRequest(query: Readonly<Record<string, unknown>>): ListRequest {
  const text = (name: string) => {
    const value = query[name];
    return typeof value === 'string' && value.trim() !== '' ? value.trim() : undefined;
  };
  const day = (name: string) => {
    const value = text(name);
    return value !== undefined && DAY.test(value) && parseDateBound(value) !== undefined
      ? value
      : undefined;
  };
  const id = (name: string) => {
    const value = text(name);
    return value !== undefined && UUID.test(value) ? value : undefined;
  };
  const [after, before] = [id('after'), id('before')];
  return {
    status: STATUSES.find(status => status === query.status),
    from: day('from'),
    to: day('to'),
    search: text('search')?.slice(0, SEARCH_MAXIMUM),
    cursor:
      after !== undefined
        ? { startingAfter: after }
        : before !== undefined
          ? { endingBefore: before }
          : {},
  };
}

/** The filters of the API's own list; a search that finds by ID or hash is done beside it. */
export function toFilters({ status, from, to, search }: ListRequest): PaymentFilters {
  const start = from === undefined ? undefined : parseDateBound(from);
  const end = toInclusiveEnd(to);
  return {
    status,
    customerReferenceId: search,
    // The bounds of a list are strict.
    createdAfter: start === undefined ? undefined : new Date(start.getTime() - 1),
    createdBefore: end === undefined ? undefined : new Date(end.getTime() + 1),
  };
}

/** Whether anything is filtered. */
export function isFiltered({ status, from, to, search }: ListRequest): boolean {
  return [status, from, to, search].some(value => value !== undefined);
}

/** The address of a list with its filters. */
export function listUrl(
  path: string,
  { status, from, to, search }: ListRequest,
  cursor: Readonly<Record<string, string>> = {},
): string {
  const given = Object.entries({ status, from, to, search, ...cursor }).filter(
    (entry): entry is [string, string] => entry[1] !== undefined,
  );
  return given.length === 0 ? path : `${path}?${new URLSearchParams(given)}`;
}

export function renderFilters(path: string, list: ListRequest): Html {
  const choices = [{ value: '', text: 'Any' }, ...STATUSES.map(value => ({ value, text: value }))];
  return html`<form method="get" action="${path}" class="filters" role="search">
${renderSelect({ name: 'status', label: 'Status', value: list.status ?? '', choices })}
${renderField({ name: 'from', label: 'From', type: 'date', value: list.from ?? '', required: false }, null)}
${renderField({ name: 'to', label: 'To', type: 'date', value: list.to ?? '', required: false }, null)}
${renderField({ name: 'search', label: 'Search', placeholder: 'ID, reference, transaction', type: 'search', value: list.search ?? '', required: false }, null)}
<button>Filter</button>
</form>`;
}

/** @param path Of the list of payments, with the base path. */
export function renderPayments(path: string, payments: readonly PaymentObject[]): Html {
  return renderTable<PaymentObject>(
    'Payments',
    [
      {
        title: 'Created',
        cell: ({ id, createdAt }) => html`<a href="${path}/${id}">${dateTime(createdAt)}</a>`,
      },
      { title: 'Amount', cell: ({ amount }) => dollars(amount), number: true },
      { title: 'Status', cell: renderStatus },
      { title: 'Network', cell: ({ blockchainId }) => blockchainId, secondary: true },
      {
        title: 'Reference',
        cell: ({ customerReferenceId }) => customerReferenceId,
        secondary: true,
      },
    ],
    payments,
  );
}

/** Links to the pages beside this one, as far as there are any. */
export function renderListPaging(
  path: string,
  list: ListRequest,
  page: readonly { readonly id: string }[],
  hasMore: boolean,
): Html | null {
  const [first, last] = [page[0], page.at(-1)];
  const { startingAfter, endingBefore } = list.cursor;
  const hasNewer = startingAfter !== undefined || (endingBefore !== undefined && hasMore);
  const hasOlder = endingBefore !== undefined || hasMore;
  return renderPaging(
    hasNewer && first !== undefined ? listUrl(path, list, { before: first.id }) : null,
    hasOlder && last !== undefined ? listUrl(path, list, { after: last.id }) : null,
  );
}
