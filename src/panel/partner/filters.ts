import { BLOCKCHAIN_IDS } from '#schemas/blockchain.ts';
import type { PartnerFilters, PartnerPaymentsQuery } from '#schemas/partner-reports.ts';
import { UUID } from '#schemas/uuid.ts';
import type { PaymentStatus } from '../../database/payment-tables.ts';
import { type Html, html } from '../../pages/html.ts';
import type { PartnerPaymentReportQuery } from '../../partners/payment-reports.ts';
import { toDate, toInclusiveEnd } from '../../time/date-bound.ts';
import { type FormFault, renderField, renderSelect } from '../form.ts';
import { STATUSES } from '../payments/list.ts';

/** Longest text that is searched for, as in the reports of the API. */
const TEXT_MAXIMUM = 255;
const DAY = /^\d{4}-\d{2}-\d{2}$/;

/** What the address of the list asks for; whatever is not understood is left out. */
export interface PartnerListRequest {
  readonly search: string | undefined;
  readonly status: PaymentStatus | undefined;
  readonly merchantId: string | undefined;
  readonly blockchainId: PartnerPaymentsQuery['blockchainId'] | undefined;
  readonly from: string | undefined;
  readonly to: string | undefined;
}

export function readPartnerList(query: Readonly<Record<string, unknown>>): PartnerListRequest {
  const text = (name: string, isRight: (value: string) => boolean = () => true) => {
    const value = query[name];
    const trimmed = typeof value === 'string' ? value.trim() : '';
    return trimmed !== '' && trimmed.length <= TEXT_MAXIMUM && isRight(trimmed)
      ? trimmed
      : undefined;
  };
  const isDay = (value: string) => DAY.test(value) && toDate(value) !== undefined;
  return {
    search: text('search'),
    status: STATUSES.find(status => status === query.status),
    merchantId: text('merchant', value => UUID.test(value)),
    blockchainId: BLOCKCHAIN_IDS.find(id => id === query.network),
    from: text('from', isDay),
    to: text('to', isDay),
  };
}

/** The same as a query of the reports. */
export function toReportQuery({
  search,
  status,
  merchantId,
  blockchainId,
  from,
  to,
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

/** The address of the list with its filters. */
export function partnerListUrl(
  path: string,
  { search, status, merchantId: merchant, blockchainId: network, from, to }: PartnerListRequest,
  page = 1,
): string {
  const given = Object.entries({
    ...{ search, status, merchant, network, from, to },
    page: page === 1 ? undefined : String(page),
  }).filter((entry): entry is [string, string] => entry[1] !== undefined);
  return given.length === 0 ? path : `${path}?${new URLSearchParams(given)}`;
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
${renderSelect({ name: 'status', label: 'Status', value: list.status ?? '', choices: [any, ...STATUSES.map(value => ({ value, text: value }))] })}
${renderSelect({ name: 'merchant', label: 'Merchant', value: list.merchantId ?? '', choices: [any, ...merchants.map(({ id, name }) => ({ value: id, text: name }))] })}
${renderSelect({ name: 'network', label: 'Network', value: list.blockchainId ?? '', choices: [any, ...blockchainIds.map(value => ({ value, text: value }))] })}
${renderField({ name: 'from', label: 'From', type: 'date', value: list.from ?? '', required: false }, fault)}
${renderField({ name: 'to', label: 'To', type: 'date', value: list.to ?? '', required: false }, null)}
<button>Filter</button>
</form>`;
}
