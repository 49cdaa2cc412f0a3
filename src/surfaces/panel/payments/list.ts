import { type Static, Type } from '@sinclair/typebox';
import type { PaymentPage, WantedPayments } from '#payments/payment-pages.ts';
import type { SearchCursor } from '#payments/search-payments.ts';
import { CUSTOMER_REFERENCE_MAXIMUM } from '#schemas/create-payment.ts';
import { PAYMENT_STATUSES, PaymentStatusSchema } from '#schemas/payment.ts';
import { StringEnum, Uuid } from '#schemas/scalars.ts';
import { toDate, toInclusiveEnd } from '#time/date-bound.ts';
import { type Html, html } from '../../pages/html.ts';
import {
  DaysQuery,
  renderChoice,
  renderDayFields,
  renderFilters,
  renderSearch,
} from '../kit/filters.ts';
import type { FormFault } from '../kit/form.ts';
import { addressOf } from '../kit/page-address.ts';
import { DEVIATIONS } from '../kit/payment-table.ts';
import { renderPaging } from '../kit/table.ts';
import { texts } from '../texts/index.ts';

const { lists, payments: paymentTexts } = texts;
const { facts } = paymentTexts;

/** The filters of a list, and its page. */
export const ListQuery = Type.Object({
  status: Type.Optional(PaymentStatusSchema),
  ...DaysQuery.properties,
  arrived: Type.Optional(StringEnum(DEVIATIONS, 'How it differs.')),
  /** A payment's ID, reference, amount or address, or a transaction's hash. */
  search: Type.Optional(Type.String({ maxLength: CUSTOMER_REFERENCE_MAXIMUM })),
  /** IDs of the payments right before and after the page. */
  after: Type.Optional(Uuid('Only older ones.')),
  before: Type.Optional(Uuid('Only newer ones, where there is no `after`.')),
  told: Type.Optional(Uuid('The oldest one that the search has shown on the pages before.')),
});

type ListRequest = Static<typeof ListQuery>;

/** Which payments a list shows. */
export function wantedBy({ status, from, to, arrived, search: text }: ListRequest): WantedPayments {
  const bounds = strictBounds({ from: toDate(from), to: toInclusiveEnd(to) });
  return { filters: { status, deviation: arrived, ...bounds }, text };
}

/** Converts a time range that includes its ends to the bounds of a list, which exclude them. */
export function strictBounds({ from, to }: { from: Date | undefined; to: Date | undefined }) {
  return {
    createdAfter: from && new Date(from.getTime() - 1),
    createdBefore: to && new Date(to.getTime() + 1),
  };
}

/** Whether anything is filtered. */
export function isFiltered({ status, from, to, arrived, search }: ListRequest): boolean {
  return [status, from, to, arrived, search].some(value => value !== undefined);
}

/** The address of a list with its filters. */
export function listUrl(
  path: string,
  { status, from, to, arrived, search }: ListRequest,
  place: Pick<ListRequest, 'before'> | Partial<SearchCursor> = {},
): string {
  return addressOf(path, { status, from, to, arrived, search, ...place });
}

export function renderListFilters(url: string, list: ListRequest, fault: FormFault | null): Html {
  const statuses = PAYMENT_STATUSES.map(status => [status, paymentTexts.statuses[status]] as const);
  return renderFilters(texts, url, [
    renderChoice(texts, 'status', facts.status, statuses, list.status),
    renderChoice(
      texts,
      'arrived',
      facts.received,
      Object.entries(paymentTexts.deviations),
      list.arrived,
    ),
    renderDayFields(texts, list, fault),
    renderSearch(texts, paymentTexts.searchHint, list.search, CUSTOMER_REFERENCE_MAXIMUM),
  ]);
}

/** Links to the pages before and after this one, if there are any. */
export function renderListPaging(
  path: string,
  list: ListRequest,
  { isSearched, before, next }: PaymentPage,
): Html | null {
  const older = next === null ? null : listUrl(path, list, next);
  if (!isSearched) {
    return renderPaging(texts, before === null ? null : listUrl(path, list, { before }), older);
  }
  return html`${list.after !== undefined && html`<a href="${listUrl(path, list)}">${lists.pages.newest}</a>`}
${older !== null && html`<a href="${older}" rel="next">${lists.pages.older}</a>`}`;
}
