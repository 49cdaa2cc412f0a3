import { type Static, Type } from '@sinclair/typebox';
import type { PartnerPaymentReportQuery } from '#reports/partners/payment-reports.ts';
import { BlockchainIdSchema } from '#schemas/blockchain.ts';
import { PARTNER_TEXT_MAXIMUM, type PartnerFilters } from '#schemas/partner-reports.ts';
import { PAYMENT_STATUSES, PaymentStatusSchema } from '#schemas/payment.ts';
import { Uuid } from '#schemas/scalars.ts';
import { toDate, toInclusiveEnd } from '#time/date-bound.ts';
import { type Html, html } from '../../pages/html.ts';
import { DaysQuery, renderChoice, renderDayFields, renderSearch } from '../kit/filters.ts';
import { type FormFault, renderField } from '../kit/form.ts';
import type { PanelTexts } from '../texts/panel-texts.ts';

const PAGE_MAXIMUM = 100_000;

/**
 * Maximum merchants to choose from, so that the page stays small; the others are found by their name. An option has
 * about 80 bytes.
 */
const MERCHANT_CHOICES_MAXIMUM = 300;

/** A text that is searched for. */
export const SearchText = Type.Optional(Type.String({ maxLength: PARTNER_TEXT_MAXIMUM }));
/** The number of a list's page. */
export const Page = Type.Optional(Type.Integer({ minimum: 1, maximum: PAGE_MAXIMUM }));

/** The filters of a list of payments, and its page. */
export const PartnerListQuery = Type.Object({
  search: SearchText,
  page: Page,
  status: Type.Optional(PaymentStatusSchema),
  merchant: Type.Optional(Uuid('ID of the merchant.')),
  network: Type.Optional(BlockchainIdSchema),
  payment: SearchText,
  name: SearchText,
  address: SearchText,
  hash: SearchText,
  ...DaysQuery.properties,
});

type PartnerListRequest = Static<typeof PartnerListQuery>;

/** The filters of a list of payments as a query of the reports. */
export function toReportQuery(list: PartnerListRequest): PartnerPaymentReportQuery {
  return {
    ...withoutMissing({
      search: list.search,
      status: list.status,
      merchantId: list.merchant,
      blockchainId: list.network,
      transactionId: list.payment,
      merchantName: list.name,
      addressSearch: list.address,
      txHash: list.hash,
    }),
    startDate: toDate(list.from),
    endDate: toInclusiveEnd(list.to),
  };
}

/** The fields of the form that filters a list of payments. */
export function renderPartnerFilters(
  words: PanelTexts,
  list: PartnerListRequest,
  { merchants, blockchainIds }: PartnerFilters,
  fault: FormFault | null,
): Html[] {
  const { facts, statuses } = words.payments;
  const { merchant, searchHint } = words.partner.payment;
  const networks = blockchainIds.map(id => [id, id] as const);
  const statusChoices = PAYMENT_STATUSES.map(status => [status, statuses[status]] as const);
  const names = merchants
    .filter(({ id }, index) => index < MERCHANT_CHOICES_MAXIMUM || id === list.merchant)
    .map(({ id, name }) => [id, name] as const);
  return [
    renderSearch(words, searchHint, list.search),
    renderChoice(words, 'status', facts.status, statusChoices, list.status),
    renderChoice(words, 'merchant', merchant, names, list.merchant),
    renderChoice(words, 'network', facts.network, networks, list.network),
    renderDayFields(words, list, fault),
    renderParts(words, list),
  ];
}

/** Filters that each search one field; the search field searches all of them. */
function renderParts({ partner }: PanelTexts, list: PartnerListRequest): Html {
  const { parts } = partner.payment;
  const isOpen = [list.payment, list.name, list.address, list.hash].some(Boolean);
  const field = (name: 'payment' | 'name' | 'address' | 'hash') =>
    renderField({ name, label: parts[name], value: list[name], required: false });
  return html`<details${isOpen && html` open`}><summary>${parts.title}</summary><div class="filters">
${field('payment')}
${field('name')}
${field('address')}
${field('hash')}
</div></details>`;
}

function withoutMissing<T extends object>(filters: T): { [K in keyof T]?: NonNullable<T[K]> } {
  return Object.fromEntries(Object.entries(filters).filter(([, value]) => value !== undefined)) as {
    [K in keyof T]?: NonNullable<T[K]>;
  };
}
