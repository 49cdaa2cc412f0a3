import type { Connection } from '../database/connection.ts';
import type { PartnerPaymentFilters } from '../repositories/partners/payment-filters.ts';
import {
  collectMatches,
  listAmongNewest,
  type PageWindow,
  type PartnerPayment,
} from '../repositories/partners/payments.ts';

/** Number of a partner's newest payments to scan before searching the indexes. */
const SCANNED_MAXIMUM = 5_000;

/**
 * Payments newest first that match a text, or any of several merchants or addresses.
 *
 * No single plan suits all searches. Frequent matches fill the page from the newest payments. If
 * they do not, matches are rare enough to collect all of them from the indexes and sort them.
 */
export async function searchPartnerPayments(
  db: Connection,
  partnerId: string,
  filters: PartnerPaymentFilters,
  window: PageWindow,
): Promise<PartnerPayment[]> {
  if (window.offset + window.limit <= SCANNED_MAXIMUM) {
    const newest = await listAmongNewest(db, partnerId, filters, window, SCANNED_MAXIMUM);
    if (newest.length === window.limit) return newest;
  }
  return collectMatches(db, partnerId, filters, window);
}
