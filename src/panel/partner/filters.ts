import { type Static, Type } from '@sinclair/typebox';
import { BlockchainIdSchema } from '#schemas/blockchain.ts';
import { PARTNER_TEXT_MAXIMUM, type PartnerFilters } from '#schemas/partner-reports.ts';
import { PAYMENT_STATUSES, PaymentStatusSchema } from '#schemas/payment.ts';
import { Uuid } from '#schemas/scalars.ts';
import { type Html, html } from '../../pages/html.ts';
import type { PartnerPaymentReportQuery } from '../../partners/payment-reports.ts';
import { toDate, toInclusiveEnd } from '../../time/date-bound.ts';
import { addressOf } from '../address.ts';
import { type FormFault, renderField, renderSelect } from '../form.ts';
import { Day } from '../payments/list.ts';

const PAGE_MAXIMUM = 100_000;

/** What the address of a list of merchants asks for. */
export const MerchantsQuery = Type.Object({
  search: Type.Optional(Type.String({ maxLength: PARTNER_TEXT_MAXIMUM })),
  page: Type.Optional(Type.Integer({ minimum: 1, maximum: PAGE_MAXIMUM })),
});

/** What the address of a list of payments asks for. */
export const PartnerListQuery = Type.Object({
  ...MerchantsQuery.properties,
  status: Type.Optional(PaymentStatusSchema),
  merchant: Type.Optional(Uuid('ID of the merchant.')),
  network: Type.Optional(BlockchainIdSchema),
  /** Both days included. */
  from: Type.Optional(Day),
  to: Type.Optional(Day),
});

export type PartnerListRequest = Static<typeof PartnerListQuery>;

/** The filters alone as a query of the reports. */
export function toReportQuery({
  merchant: merchantId,
  network: blockchainId,
  from,
  to,
  search,
  status,
}: PartnerListRequest): PartnerPaymentReportQuery {
  return {
    ...(search === undefined ? {} : { search }),
    ...(status === undefined ? {} : { status }),
    ...(merchantId === undefined ? {} : { merchantId }),
    ...(blockchainId === undefined ? {} : { blockchainId }),
    startDate: toDate(from),
    endDate: toInclusiveEnd(to),
  };
}

/** The address of a page of a list with its filters. */
export function partnerListUrl(path: string, list: PartnerListRequest, page = 1): string {
  const { search, status, merchant, network, from, to } = list;
  const filters = { search, status, merchant, network, from, to };
  return addressOf(path, { ...filters, page: page === 1 ? undefined : String(page) });
}

export function renderPartnerFilters(
  path: string,
  list: PartnerListRequest,
  { merchants, blockchainIds }: PartnerFilters,
  fault: FormFault | null,
): Html {
  const any = { value: '', text: 'Any' };
  return html`<form method="get" action="${path}" class="filters" role="search">
${renderField({ name: 'search', label: 'Search', placeholder: 'Merchant, ID, address, …', type: 'search', value: list.search ?? '', required: false }, null)}
${renderSelect({ name: 'status', label: 'Status', value: list.status ?? '', choices: [any, ...PAYMENT_STATUSES.map(value => ({ value, text: value }))] })}
${renderSelect({ name: 'merchant', label: 'Merchant', value: list.merchant ?? '', choices: [any, ...merchants.map(({ id, name }) => ({ value: id, text: name }))] })}
${renderSelect({ name: 'network', label: 'Network', value: list.network ?? '', choices: [any, ...blockchainIds.map(value => ({ value, text: value }))] })}
${renderField({ name: 'from', label: 'From', type: 'date', value: list.from ?? '', required: false }, fault)}
${renderField({ name: 'to', label: 'To', type: 'date', value: list.to ?? '', required: false }, null)}
<button>Filter</button>
</form>`;
}
