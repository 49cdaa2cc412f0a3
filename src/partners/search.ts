import type { Connection } from '../database/connection.ts';
import { isIndexed, type PartnerPaymentFilters } from '../repositories/partners/payment-filters.ts';
import type { PageWindow, PartnerPayment } from '../repositories/partners/payments.ts';
import {
  collectMatches,
  countAmongNewest,
  countMatches,
  listAmongNewest,
  type Matches,
} from '../repositories/partners/search.ts';

/*
 * No single plan suits all searches. What many payments match fills its page from the newest ones, but the indexes
 * of texts would collect all of it; what few match is soon collected, but may be anywhere.
 */

/** How many payments a search looks at, and what it takes for frequent. */
export interface SearchDepths {
  /** How many of the newest payments each search looks at. */
  readonly few: number;
  /** How many of the newest are looked at for a frequent text. */
  readonly many: number;
  /**
   * The same where the filters are by what the index of the newest has not, so that each payment is fetched. Of so
   * few all are looked at for any text.
   */
  readonly manyRows: number;
  /**
   * A text that one payment in so many matches is frequent: to collect all that match it, from the payments of all
   * partners, takes longer than to look at the newest.
   */
  readonly frequent: number;
}

/** To look at them takes 15 ms, 1.0 to 1.7 s, by how early a payment's texts match, and 1.3 s. */
export const SEARCH_DEPTHS: SearchDepths = {
  few: 5_000,
  many: 750_000,
  manyRows: 100_000,
  frequent: 500,
};

/** No total below this is inexact. */
export const INEXACT_MINIMUM = SEARCH_DEPTHS.manyRows / SEARCH_DEPTHS.frequent;

/** A page of a search. */
export interface SearchPage extends Matches {
  /** Whether no more than `total` match: otherwise these are known, and more than the pages up to this one have. */
  readonly totalIsExact: boolean;
}

/** A page of the payments that match a text, newest first, with their total. */
export async function searchPartnerPayments(
  db: Connection,
  partnerId: string,
  filters: PartnerPaymentFilters,
  window: PageWindow,
  depths: SearchDepths = SEARCH_DEPTHS,
): Promise<SearchPage> {
  const few = await countAmongNewest(db, partnerId, filters, window, depths.few);
  if (few.looked < depths.few) return { ...few, totalIsExact: true };
  const isRare = isIndexed(filters) && few.matching < depths.few / depths.frequent;
  if (!isRare || few.created < depths.manyRows) {
    const depth = depthFor(filters, depths);
    const many = await countAmongNewest(db, partnerId, filters, window, depth);
    if (many.looked < depth) return { ...many, totalIsExact: true };
    const { limit, offset } = window;
    const isAnswer = many.payments.length === limit && many.total > offset + limit;
    const known = isIndexed(filters) ? many.matching : many.total;
    if (isAnswer && known >= depth / depths.frequent) return { ...many, totalIsExact: false };
  }
  return { ...(await countMatches(db, partnerId, filters, window)), totalIsExact: true };
}

/** A page of the payments that match a text, or any of several merchants or addresses, newest first. */
export async function listMatches(
  db: Connection,
  partnerId: string,
  filters: PartnerPaymentFilters,
  window: PageWindow,
  depths: SearchDepths = SEARCH_DEPTHS,
): Promise<PartnerPayment[]> {
  const few = await listAmongNewest(db, partnerId, filters, window, depths.few);
  if (few.length === window.limit) return few;
  if (few.length >= depths.few / depths.frequent) {
    const depth = depthFor(filters, depths);
    const many = await listAmongNewest(db, partnerId, filters, window, depth);
    if (many.length === window.limit) return many;
  }
  return collectMatches(db, partnerId, filters, window);
}

function depthFor(
  { status, blockchainId, merchantIds, addresses }: PartnerPaymentFilters,
  { many, manyRows }: SearchDepths,
): number {
  const isOfOne = merchantIds?.length === 1 || addresses?.length === 1;
  return status === undefined && blockchainId === undefined && !isOfOne ? many : manyRows;
}
