import { ApiError } from '#errors/api-error.ts';
import {
  PARTNER_PAGE_DEFAULT,
  type PartnerPaymentPage,
  type PartnerPaymentRow,
  type PartnerPaymentsQuery,
} from '#schemas/partner-reports.ts';
import type { Connection, Database } from '#storage/database/connection.ts';
import { isStatementTimeout } from '#storage/database/errors.ts';
import {
  hasText,
  type PartnerPaymentFilters,
} from '#storage/repositories/partners/payment-filters.ts';
import {
  findPartnerPayment,
  listPartnerPayments,
  type PageWindow,
  type PartnerPayment,
} from '#storage/repositories/partners/payments.ts';
import { comparing } from '#storage/repositories/partners/search.ts';
import { countMatches, isRolledUp } from '#storage/repositories/partners/search-counts.ts';
import {
  countByCreatedDay,
  countPartnerPayments,
  findHistoryMatches,
} from '#storage/repositories/partners/totals.ts';
import { endOfDay } from '#time/days.ts';
import { testMerchantsOf, toReportRow } from './payment-row.ts';
import { listSearched, type SearchDepths, searchPartnerPayments } from './search.ts';

/** From this offset on, skipping whole days by their counts is cheaper than skipping rows. */
const FAR_OFFSET = 1_000;

/** Retry-After of the E5002 for payments that were not counted in time, in seconds. */
const UNCOUNTED_RETRY_SECONDS = 5;
const NOT_COUNTED =
  'The payments that match could not be counted in time. Give dates, or a longer part of the text.';

/** Filters of a report; a page is the first one, of 20 rows, unless given. */
export type PartnerPaymentReportQuery = Omit<PartnerPaymentsQuery, 'startDate' | 'endDate'> & {
  readonly startDate?: Date | undefined;
  readonly endDate?: Date | undefined;
};

/** A page of a report, and what the report itself leaves out. */
interface PaymentReports extends PartnerPaymentPage {
  /** IDs of the test merchants among the payments' merchants. */
  readonly tested: ReadonlySet<string>;
}

/**
 * One page of the partner's payments, newest first, with the total of all that match.
 * @throws ApiError E5002 when the matches cannot be counted in time.
 */
export async function listPaymentReports(
  db: Database,
  partnerId: string,
  query: PartnerPaymentReportQuery,
  depths?: SearchDepths,
): Promise<PaymentReports> {
  try {
    return await readReports(db, partnerId, query, depths);
  } catch (error) {
    if (!isStatementTimeout(error)) throw error;
    throw new ApiError('E5002', NOT_COUNTED, {
      cause: error,
      retryAfterSeconds: UNCOUNTED_RETRY_SECONDS,
    });
  }
}

async function readReports(
  db: Database,
  partnerId: string,
  query: PartnerPaymentReportQuery,
  depths: SearchDepths | undefined,
): Promise<PaymentReports> {
  const { page = 1, limit = PARTNER_PAGE_DEFAULT } = query;
  const filters = await resolveFilters(db, partnerId, query);
  const window = { limit, offset: (page - 1) * limit };
  if (hasText(filters)) {
    const found = await searchPartnerPayments(db, partnerId, filters, window, depths);
    return { ...toReports(found.payments), total: found.total, page, limit };
  }
  const total = await countPayments(db, partnerId, filters);
  const payments = window.offset < total ? await readPage(db, partnerId, filters, window) : [];
  return { ...toReports(payments), total, page, limit };
}

function toReports(payments: readonly PartnerPayment[]): Pick<PaymentReports, 'data' | 'tested'> {
  return { data: payments.map(toReportRow), tested: testMerchantsOf(payments) };
}

/**
 * All payments that match, newest first, in pages of at most `limit`. Each page begins at the time where the
 * one before ended, so that the last page costs as much as the first.
 */
export async function* readPaymentReportPages(
  db: Database,
  partnerId: string,
  query: PartnerPaymentReportQuery,
  limit: number,
  depths?: SearchDepths,
): AsyncGenerator<Pick<PaymentReports, 'data' | 'tested'>> {
  const filters = await resolveFilters(db, partnerId, query);
  const list = needsSearch(filters) ? listSearched : listPartnerPayments;
  let createdTo = filters.createdTo;
  /** Rows with the time `createdTo` that have been read already; they come first. */
  let offset = 0;
  for (;;) {
    const rows = await list(db, partnerId, { ...filters, createdTo }, { limit, offset }, depths);
    if (rows.length > 0) yield toReports(rows);
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
): Promise<{ readonly report: PartnerPaymentRow; readonly tested: ReadonlySet<string> }> {
  const payment = await findPartnerPayment(db, partnerId, paymentId);
  if (payment === undefined) throw new ApiError('E3001', 'There is no such payment.');
  return { report: toReportRow(payment), tested: testMerchantsOf([payment]) };
}

/** Resolves text filters on names and addresses to the few matching merchants and addresses. */
async function resolveFilters(
  db: Connection,
  partnerId: string,
  query: PartnerPaymentReportQuery,
): Promise<PartnerPaymentFilters> {
  const search = query.search || undefined;
  const found = await findHistoryMatches(db, partnerId, {
    search,
    address: query.addressSearch || undefined,
    merchantName: query.merchantName || undefined,
  });
  const { merchantIds: named, addresses, reach } = found;
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
    term: search === undefined || reach === undefined ? undefined : { text: search, reach },
  };
}

/** Whether no single index returns the matching payments in order. */
function needsSearch(filters: PartnerPaymentFilters): boolean {
  const { merchantIds, addresses } = filters;
  return hasText(filters) || [merchantIds, addresses].some(values => (values?.length ?? 1) > 1);
}

/** Counts in the rollups, unless a filter is on a column that they lack. */
async function countPayments(
  db: Database,
  partnerId: string,
  filters: PartnerPaymentFilters,
): Promise<number> {
  if (isRolledUp(filters)) return countPartnerPayments(db, partnerId, filters);
  const { matching } = await comparing(db, tx => countMatches(tx, partnerId, filters));
  return matching;
}

async function readPage(
  db: Database,
  partnerId: string,
  filters: PartnerPaymentFilters,
  window: PageWindow,
): Promise<readonly PartnerPayment[]> {
  if (needsSearch(filters)) return listSearched(db, partnerId, filters, window);
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
