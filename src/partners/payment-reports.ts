import {
  PARTNER_PAGE_DEFAULT,
  type PartnerPaymentPage,
  type PartnerPaymentRow,
  type PartnerPaymentsQuery,
} from '#schemas/partner-reports.ts';
import type { Connection } from '../database/connection.ts';
import { ApiError } from '../errors/api-error.ts';
import type { PartnerPaymentFilters } from '../repositories/partners/payment-filters.ts';
import {
  countMatchingPayments,
  countTextMatches,
  findPartnerPayment,
  listPartnerPayments,
  type PageWindow,
  type PartnerPayment,
} from '../repositories/partners/payments.ts';
import {
  countByCreatedDay,
  countPartnerPayments,
  findHistoryAddresses,
  findHistoryMerchants,
} from '../repositories/partners/totals.ts';
import { endOfDay } from '../time/days.ts';
import { toReportRow } from './payment-row.ts';
import { resolveSearch, searchPartnerPayments } from './search.ts';

/** From this offset on, skipping whole days by their counts is cheaper than skipping rows. */
const FAR_OFFSET = 1_000;

/** Filters of a report; a page is the first one, of 20 rows, unless given. */
export type PartnerPaymentReportQuery = Omit<PartnerPaymentsQuery, 'startDate' | 'endDate'> & {
  readonly startDate?: Date | undefined;
  readonly endDate?: Date | undefined;
};

/** One page of the partner's payments, newest first, with the exact total of all that match. */
export async function listPaymentReports(
  db: Connection,
  partnerId: string,
  query: PartnerPaymentReportQuery,
): Promise<PartnerPaymentPage> {
  const { page = 1, limit = PARTNER_PAGE_DEFAULT } = query;
  const filters = await resolveFilters(db, partnerId, query);
  const window = { limit, offset: (page - 1) * limit };
  if (needsSearch(filters)) {
    // In parallel: counting all matches of a common fragment takes longer than its first page.
    const [payments, total] = await Promise.all([
      searchPartnerPayments(db, partnerId, filters, window),
      countPayments(db, partnerId, filters),
    ]);
    return { data: payments.map(toReportRow), total, page, limit };
  }
  const total = await countPayments(db, partnerId, filters);
  const payments = window.offset < total ? await readPage(db, partnerId, filters, window) : [];
  return { data: payments.map(toReportRow), total, page, limit };
}

/**
 * All payments that match, newest first, in pages of at most `limit`. Each page begins at the time where
 * the former ended, so that the last costs what the first does.
 */
export async function* readPaymentReportPages(
  db: Connection,
  partnerId: string,
  query: PartnerPaymentReportQuery,
  limit: number,
): AsyncGenerator<readonly PartnerPaymentRow[]> {
  const filters = await resolveFilters(db, partnerId, query);
  const list = needsSearch(filters) ? searchPartnerPayments : listPartnerPayments;
  let createdTo = filters.createdTo;
  /** Rows of the time `createdTo` that were read already; they come first. */
  let offset = 0;
  for (;;) {
    const rows = await list(db, partnerId, { ...filters, createdTo }, { limit, offset });
    if (rows.length > 0) yield rows.map(toReportRow);
    const last = rows.at(-1);
    if (last === undefined || rows.length < limit) return;
    const ofLast = rows.filter(row => row.created_at.getTime() === last.created_at.getTime());
    const isSameTime = createdTo?.getTime() === last.created_at.getTime();
    offset = isSameTime ? offset + rows.length : ofLast.length;
    createdTo = last.created_at;
  }
}

/** @throws ApiError E3001 unless the payment belongs to the partner. */
export async function readPaymentReport(
  db: Connection,
  partnerId: string,
  paymentId: string,
): Promise<PartnerPaymentRow> {
  const payment = await findPartnerPayment(db, partnerId, paymentId);
  if (payment === undefined) throw new ApiError('E3001', 'There is no such payment.');
  return toReportRow(payment);
}

/** Resolves text filters on names and addresses to the few matching merchants and addresses. */
async function resolveFilters(
  db: Connection,
  partnerId: string,
  query: PartnerPaymentReportQuery,
): Promise<PartnerPaymentFilters> {
  const { merchantName, addressSearch, search } = query;
  const [named, addresses, term] = await Promise.all([
    merchantName ? findHistoryMerchants(db, partnerId, { name: merchantName }) : undefined,
    addressSearch ? findHistoryAddresses(db, partnerId, addressSearch) : undefined,
    search ? resolveSearch(db, partnerId, search) : undefined,
  ]);
  const merchantId = query.merchantId?.toLowerCase();
  const merchantIds =
    merchantId === undefined
      ? named
      : [merchantId].filter(id => named === undefined || named.includes(id));
  return {
    status: query.status,
    blockchainId: query.blockchainId,
    merchantIds,
    addresses,
    createdFrom: query.startDate,
    createdTo: query.endDate,
    idPart: query.transactionId || undefined,
    hashPart: query.txHash || undefined,
    term,
  };
}

/** Whether no single index returns the matching payments in order. */
function needsSearch({ merchantIds, addresses, idPart, hashPart, term }: PartnerPaymentFilters) {
  const several = (merchantIds?.length ?? 1) > 1 || (addresses?.length ?? 1) > 1;
  return several || idPart !== undefined || hashPart !== undefined || term !== undefined;
}

/** Counts in the rollups unless a filter is on a column that they do not have. */
async function countPayments(
  db: Connection,
  partnerId: string,
  filters: PartnerPaymentFilters,
): Promise<number> {
  const { createdFrom, createdTo, idPart, hashPart, term } = filters;
  const rolledUp = [createdFrom, createdTo, idPart, hashPart].every(filter => filter === undefined);
  if (!rolledUp) return countMatchingPayments(db, partnerId, filters);
  if (term === undefined) return countPartnerPayments(db, partnerId, filters);
  const [reached, byText] = await Promise.all([
    countPartnerPayments(db, partnerId, filters, term.reach),
    countTextMatches(db, partnerId, { ...filters, term }),
  ]);
  return reached + byText;
}

async function readPage(
  db: Connection,
  partnerId: string,
  filters: PartnerPaymentFilters,
  window: PageWindow,
): Promise<PartnerPayment[]> {
  const unfiltered = Object.values(filters).every(filter => filter === undefined);
  if (!unfiltered || window.offset < FAR_OFFSET) {
    return listPartnerPayments(db, partnerId, filters, window);
  }
  let offset = window.offset;
  for (const { day, payments } of await countByCreatedDay(db, partnerId)) {
    if (offset < payments) {
      const createdTo = new Date(endOfDay(day).getTime() - 1);
      return listPartnerPayments(db, partnerId, { createdTo }, { ...window, offset });
    }
    offset -= payments;
  }
  return [];
}
