import { type Static, Type } from '@sinclair/typebox';
import { parseDollars } from '#payments/dollars.ts';
import type { WantedPayments } from '#payments/payment-pages.ts';
import { BlockchainIdSchema } from '#schemas/blockchain.ts';
import { CUSTOMER_REFERENCE_MAXIMUM } from '#schemas/create-payment.ts';
import { PAYMENT_STATUSES, PaymentStatusSchema } from '#schemas/payment.ts';
import { StringEnum, Uuid } from '#schemas/scalars.ts';
import { toDate, toInclusiveEnd } from '#time/date-bound.ts';
import { type Html, html } from '../../pages/html.ts';
import {
  DaysQuery,
  faultOfDays,
  renderChoice,
  renderDayFields,
  renderSearch,
} from '../kit/filters.ts';
import { type FormFault, renderField } from '../kit/form.ts';
import { PlaceQuery } from '../kit/list.ts';
import { type NamedNetworks, networkChoices } from '../kit/networks.ts';
import { DEVIATIONS } from '../kit/payment-table.ts';
import type { PanelTexts } from '../texts/panel-texts.ts';

/** The filters of a list, and its page. */
export const ListQuery = Type.Object({
  status: Type.Optional(PaymentStatusSchema),
  ...DaysQuery.properties,
  arrived: Type.Optional(StringEnum(DEVIATIONS, 'How it differs.')),
  network: Type.Optional(BlockchainIdSchema),
  /** Dollars as people write them. */
  minimum: Type.Optional(Type.String()),
  maximum: Type.Optional(Type.String()),
  /** A payment's ID, reference, amount or address, or a transaction's hash. */
  search: Type.Optional(Type.String({ maxLength: CUSTOMER_REFERENCE_MAXIMUM })),
  ...PlaceQuery.properties,
  told: Type.Optional(Uuid('The oldest one that the search has shown on the pages before.')),
});

type ListRequest = Static<typeof ListQuery>;

/** Which payments a list shows. */
export function wantedBy(list: ListRequest): WantedPayments {
  const { status, from, to, arrived, network, minimum = '', maximum = '', search: text } = list;
  const filters = {
    status,
    deviation: arrived,
    blockchainId: network,
    amountMinimum: parseDollars(minimum),
    amountMaximum: parseDollars(maximum),
    ...strictBounds({ from: toDate(from), to: toInclusiveEnd(to) }),
  };
  return { filters, text };
}

/** Converts a time range that includes its ends to the bounds of a list, which exclude them. */
export function strictBounds({ from, to }: { from: Date | undefined; to: Date | undefined }) {
  return {
    createdAfter: from && new Date(from.getTime() - 1),
    createdBefore: to && new Date(to.getTime() + 1),
  };
}

/** Why a list cannot be filtered like this; null if it can. */
export function faultOfList(words: PanelTexts, list: ListRequest): FormFault | null {
  const { minimum, maximum } = list;
  const { noAmount, amountsReversed } = words.payments.filters;
  for (const [field, text] of Object.entries({ minimum, maximum })) {
    if (text !== undefined && parseDollars(text) === undefined) return { field, message: noAmount };
  }
  const { amountMinimum = 0, amountMaximum = amountMinimum } = wantedBy(list).filters;
  if (minimum !== undefined && maximum !== undefined && amountMinimum > amountMaximum) {
    return { field: 'minimum', message: amountsReversed(minimum, maximum) };
  }
  return faultOfDays(words, list);
}

/** The fields that filter a list. */
export function renderListFilters(
  words: PanelTexts,
  networks: NamedNetworks,
  list: ListRequest,
  fault: FormFault | null,
): Html[] {
  const { facts, filters, statuses, deviations, searchHint } = words.payments;
  const isMore = [list.network, list.minimum, list.maximum].some(Boolean);
  const choices = PAYMENT_STATUSES.map(status => [status, statuses[status]] as const);
  const renderAmount = (name: 'minimum' | 'maximum') =>
    renderField(
      {
        name,
        label: filters[name],
        value: list[name],
        placeholder: filters.amountHint,
        required: false,
      },
      fault,
    );
  return [
    renderChoice(words, 'status', facts.status, choices, list.status),
    renderChoice(words, 'arrived', facts.received, Object.entries(deviations), list.arrived),
    renderDayFields(words, list, fault),
    renderSearch(words, searchHint, list.search, CUSTOMER_REFERENCE_MAXIMUM),
    html`<details${isMore && html` open`}><summary>${filters.more}</summary><div class="filters">
${renderChoice(words, 'network', facts.network, networkChoices(words, networks), list.network)}
${renderAmount('minimum')}
${renderAmount('maximum')}
</div></details>`,
  ];
}
