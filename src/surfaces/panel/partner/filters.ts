import { type Static, Type } from '@sinclair/typebox';
import type { PartnerPaymentReportQuery } from '#reports/partners/payment-reports.ts';
import { BlockchainIdSchema } from '#schemas/blockchain.ts';
import {
  PARTNER_TEXT_MAXIMUM,
  type PartnerFilters,
  type PartnerMerchantsQuery,
} from '#schemas/partner-reports.ts';
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
import { type FormFault, renderField } from '../kit/form.ts';
import { addressOf } from '../kit/page-address.ts';
import { texts } from '../texts/index.ts';

const { facts, statuses } = texts.payments;
const { payment: paymentTexts } = texts.partner;

const PAGE_MAXIMUM = 100_000;

/**
 * Maximum merchants to choose from, so that the page stays small; the others are found by their name. An option has
 * about 80 bytes.
 */
const MERCHANT_CHOICES_MAXIMUM = 300;

const Text = Type.Optional(Type.String({ maxLength: PARTNER_TEXT_MAXIMUM }));
const Page = Type.Optional(Type.Integer({ minimum: 1, maximum: PAGE_MAXIMUM }));

/** The filters of a list of merchants, and its page. */
export const MerchantsQuery = Type.Object({
  search: Text,
  action: Type.Optional(StringEnum(['required'], 'Only merchants whose onboarding is pending.')),
  page: Page,
});

type MerchantsRequest = Static<typeof MerchantsQuery>;

/** The filters of a list of payments, and its page. */
export const PartnerListQuery = Type.Object({
  search: Text,
  page: Page,
  status: Type.Optional(PaymentStatusSchema),
  merchant: Type.Optional(Uuid('ID of the merchant.')),
  network: Type.Optional(BlockchainIdSchema),
  payment: Text,
  name: Text,
  address: Text,
  hash: Text,
  ...DaysQuery.properties,
});

type PartnerListRequest = Static<typeof PartnerListQuery>;

/** The filters of a list of merchants as a query of the reports. */
export function toMerchantQuery({ search, action }: MerchantsRequest): PartnerMerchantsQuery {
  return withoutMissing({ search, actionRequired: action === undefined ? undefined : true });
}

/** The filters of a list of payments as a query of the reports. */
export function toReportQuery(list: PartnerListRequest): PartnerPaymentReportQuery {
  const { merchant: merchantId, network: blockchainId, from, to, search, status } = list;
  const { payment: transactionId, name: merchantName, address: addressSearch, hash: txHash } = list;
  const filters = {
    search,
    status,
    merchantId,
    blockchainId,
    transactionId,
    merchantName,
    addressSearch,
    txHash,
  };
  return {
    ...withoutMissing(filters),
    startDate: toDate(from),
    endDate: toInclusiveEnd(to),
  };
}

/** The address of a page of a list with its filters. */
export function partnerListUrl(
  path: string,
  list: PartnerListRequest | MerchantsRequest,
  page = 1,
): string {
  return addressOf(path, { ...list, page: page === 1 ? undefined : String(page) });
}

/** The form that filters a list of merchants. */
export function renderMerchantFilters(url: string, { search, action }: MerchantsRequest): Html {
  const { searchHint, action: label, actionRequired } = texts.partner.merchants;
  return renderFilters(texts, url, [
    renderSearch(texts, searchHint, search),
    renderChoice(texts, 'action', label, [['required', actionRequired]], action),
  ]);
}

export function renderPartnerFilters(
  url: string,
  list: PartnerListRequest,
  { merchants, blockchainIds }: PartnerFilters,
  fault: FormFault | null,
): Html {
  const networks = blockchainIds.map(id => [id, id] as const);
  const statusChoices = PAYMENT_STATUSES.map(status => [status, statuses[status]] as const);
  const names = merchants
    .filter(({ id }, index) => index < MERCHANT_CHOICES_MAXIMUM || id === list.merchant)
    .map(({ id, name }) => [id, name] as const);
  return renderFilters(texts, url, [
    renderSearch(texts, paymentTexts.searchHint, list.search),
    renderChoice(texts, 'status', facts.status, statusChoices, list.status),
    renderChoice(texts, 'merchant', paymentTexts.merchant, names, list.merchant),
    renderChoice(texts, 'network', facts.network, networks, list.network),
    renderDayFields(texts, list, fault),
    renderParts(list),
  ]);
}

/** Filters that each search one field; the search field searches all of them. */
function renderParts(list: PartnerListRequest): Html {
  const { parts } = paymentTexts;
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
