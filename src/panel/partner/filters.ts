import { type Static, Type } from '@sinclair/typebox';
import { BlockchainIdSchema } from '#schemas/blockchain.ts';
import { PARTNER_TEXT_MAXIMUM, type PartnerFilters } from '#schemas/partner-reports.ts';
import { PAYMENT_STATUSES, PaymentStatusSchema } from '#schemas/payment.ts';
import { Uuid } from '#schemas/scalars.ts';
import type { Html } from '../../pages/html.ts';
import type { PartnerPaymentReportQuery } from '../../partners/payment-reports.ts';
import { toDate, toInclusiveEnd } from '../../time/date-bound.ts';
import { addressOf } from '../address.ts';
import {
  DaysQuery,
  renderChoice,
  renderDayFields,
  renderFilters,
  renderSearch,
} from '../filters.ts';
import type { FormFault } from '../form.ts';
import { texts } from '../texts/index.ts';

const { facts, statuses } = texts.payments;
const { payment: paymentTexts } = texts.partner;

const PAGE_MAXIMUM = 100_000;

/** The filters of a list of merchants, and its page. */
export const MerchantsQuery = Type.Object({
  search: Type.Optional(Type.String({ maxLength: PARTNER_TEXT_MAXIMUM })),
  page: Type.Optional(Type.Integer({ minimum: 1, maximum: PAGE_MAXIMUM })),
});

/** The filters of a list of payments, and its page. */
export const PartnerListQuery = Type.Object({
  ...MerchantsQuery.properties,
  status: Type.Optional(PaymentStatusSchema),
  merchant: Type.Optional(Uuid('ID of the merchant.')),
  network: Type.Optional(BlockchainIdSchema),
  ...DaysQuery.properties,
});

type PartnerListRequest = Static<typeof PartnerListQuery>;

/** The filters as a query of the reports. */
export function toReportQuery(list: PartnerListRequest): PartnerPaymentReportQuery {
  const { merchant: merchantId, network: blockchainId, from, to, search, status } = list;
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
  url: string,
  list: PartnerListRequest,
  { merchants, blockchainIds }: PartnerFilters,
  fault: FormFault | null,
): Html {
  const networks = blockchainIds.map(id => [id, id] as const);
  const statusChoices = PAYMENT_STATUSES.map(status => [status, statuses[status]] as const);
  const names = merchants.map(({ id, name }) => [id, name] as const);
  return renderFilters(url, [
    renderSearch(paymentTexts.searchHint, list.search),
    renderChoice('status', facts.status, statusChoices, list.status),
    renderChoice('merchant', paymentTexts.merchant, names, list.merchant),
    renderChoice('network', facts.network, networks, list.network),
    renderDayFields(list, fault),
  ]);
}
