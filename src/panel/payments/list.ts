import type { ListPaymentsQuery } from '#schemas/list-payments.ts';
import type { PaymentObject } from '#schemas/payment.ts';
import { UUID } from '#schemas/uuid.ts';
import type { Deviation } from '../../database/deposit-tables.ts';
import type { PaymentStatus } from '../../database/payment-tables.ts';
import { type Html, html } from '../../pages/html.ts';
import type { SearchCursor } from '../../payments/search-payments.ts';
import { formatBaseUnits } from '../../payments/token-amount.ts';
import type { Arrivals } from '../../repositories/deviations.ts';
import type { PaymentSearch } from '../../repositories/payment-search.ts';
import { parseDateBound, toInclusiveEnd } from '../../time/date-bound.ts';
import { type FormFault, renderField, renderSelect } from '../form.ts';
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

/** How what has arrived differs from what a payment asks for, in words. */
const DEVIATIONS: Readonly<Record<Deviation, string>> = {
  under: 'underpaid',
  over: 'overpaid',
  duplicate: 'paid twice',
  late: 'arrived late',
};

/** What the address of a list asks for; whatever is not understood is left out. */
export interface ListRequest {
  readonly status: PaymentStatus | undefined;
  /** YYYY-MM-DD, both days included. */
  readonly from: string | undefined;
  readonly to: string | undefined;
  readonly deviation: Deviation | undefined;
  /** A payment's ID, reference, amount or address, or a transaction's hash. */
  readonly search: string | undefined;
  readonly cursor: Pick<ListPaymentsQuery, 'startingAfter' | 'endingBefore'>;
  /** Where a search goes on; undefined at its beginning. */
  readonly searchCursor: SearchCursor | undefined;
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
  const [after, before, told] = [id('after'), id('before'), id('told')];
  return {
    status: STATUSES.find(status => status === query.status),
    from: day('from'),
    to: day('to'),
    deviation: isDeviation(query.arrived) ? query.arrived : undefined,
    search: text('search')?.slice(0, SEARCH_MAXIMUM),
    cursor:
      after !== undefined
        ? { startingAfter: after }
        : before !== undefined
          ? { endingBefore: before }
          : {},
    searchCursor: after === undefined ? undefined : { after, told },
  };
}

function isDeviation(value: unknown): value is Deviation {
  return typeof value === 'string' && Object.hasOwn(DEVIATIONS, value);
}

/** Why days cannot be looked at; null if they can. */
export function faultOfDays({ from, to }: Pick<ListRequest, 'from' | 'to'>): FormFault | null {
  if (from === undefined || to === undefined || from <= to) return null;
  return { field: 'from', message: `From, ${from}, is after To, ${to}.` };
}

/** The filters of a list, without its search. */
export function toFilters({
  status,
  from,
  to,
  deviation,
}: ListRequest): Omit<PaymentSearch, 'text'> {
  const start = from === undefined ? undefined : parseDateBound(from);
  const end = toInclusiveEnd(to);
  return {
    ...{ status, deviation },
    // The bounds of a list are strict.
    createdAfter: start === undefined ? undefined : new Date(start.getTime() - 1),
    createdBefore: end === undefined ? undefined : new Date(end.getTime() + 1),
  };
}

/** Whether anything is filtered. */
export function isFiltered({ status, from, to, deviation, search }: ListRequest): boolean {
  return [status, from, to, deviation, search].some(value => value !== undefined);
}

/** Whether the list is searched, and not simply read. */
export function isSearched({ deviation, search }: ListRequest): boolean {
  return deviation !== undefined || search !== undefined;
}

/** The address of a list with its filters. */
export function listUrl(
  path: string,
  { status, from, to, deviation: arrived, search }: ListRequest,
  cursor: Readonly<Record<string, string | undefined>> = {},
): string {
  const given = Object.entries({ status, from, to, arrived, search, ...cursor }).filter(
    (entry): entry is [string, string] => entry[1] !== undefined,
  );
  return given.length === 0 ? path : `${path}?${new URLSearchParams(given)}`;
}

export function renderFilters(path: string, list: ListRequest, fault: FormFault | null): Html {
  const any = { value: '', text: 'Any' };
  const choices = [any, ...STATUSES.map(value => ({ value, text: value }))];
  const deviations = Object.entries(DEVIATIONS).map(([value, text]) => ({ value, text }));
  return html`<form method="get" action="${path}" class="filters" role="search">
${renderSelect({ name: 'status', label: 'Status', value: list.status ?? '', choices })}
${renderSelect({ name: 'arrived', label: 'Received', value: list.deviation ?? '', choices: [any, ...deviations] })}
${renderField({ name: 'from', label: 'From', type: 'date', value: list.from ?? '', required: false }, fault)}
${renderField({ name: 'to', label: 'To', type: 'date', value: list.to ?? '', required: false }, null)}
${renderField({ name: 'search', label: 'Search', placeholder: 'ID, reference, amount, address', type: 'search', value: list.search ?? '', required: false }, null)}
<button>Filter</button>
</form>`;
}

/**
 * @param path Of the list of payments, with the base path.
 * @param arrivals What has arrived for each, by their IDs.
 */
export function renderPayments(
  path: string,
  payments: readonly PaymentObject[],
  arrivals: ReadonlyMap<string, Arrivals>,
): Html {
  return renderTable<PaymentObject>(
    'Payments',
    [
      {
        title: 'Created',
        cell: ({ id, createdAt }) => html`<a href="${path}/${id}">${dateTime(createdAt)}</a>`,
      },
      { title: 'Amount', cell: ({ amount }) => dollars(amount), number: true },
      {
        title: 'Status',
        cell: payment =>
          html`${renderStatus(payment)}${renderDeviations(arrivals.get(payment.id))}`,
      },
      {
        title: 'Received',
        cell: ({ id }) => receivedText(arrivals.get(id)),
        number: true,
        secondary: true,
      },
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

function renderDeviations(arrivals: Arrivals | undefined): Html[] {
  return (Object.keys(DEVIATIONS) as Deviation[])
    .filter(kind => arrivals?.[kind] === true)
    .map(kind => html` <span class="tag bad">${DEVIATIONS[kind]}</span>`);
}

/** What has arrived, with its asset; null for nothing. */
export function receivedText(arrivals: Arrivals | undefined): string | null {
  const { received = null, assetSymbol = null, assetDecimals = null } = arrivals ?? {};
  if (received === null || assetDecimals === null) return null;
  return `${formatBaseUnits(BigInt(received), assetDecimals)} ${assetSymbol}`;
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
