import type { Database } from '#storage/database/connection.ts';
import {
  hasText,
  isIndexed,
  type PartnerPaymentFilters,
} from '#storage/repositories/partners/payment-filters.ts';
import type { PageWindow, PartnerPayment } from '#storage/repositories/partners/payments.ts';
import {
  collectMatches,
  comparing,
  findMatches,
  listMatches,
  listOfSeveral,
  lookAmongNewest,
  type Matches,
  type NewestMatches,
} from '#storage/repositories/partners/search.ts';
import { countMatches } from '#storage/repositories/partners/search-counts.ts';

/*
 * No single plan suits all searches. If many payments match, the newest ones fill a page soon, but the text
 * index would collect all matches. If few match, the text index finds them soon, but they may be anywhere.
 */

/** How many payments a search looks at. */
export interface SearchDepths {
  /** How many of the newest payments each search looks at. */
  readonly few: number;
  /** Up to this number, comparing payments with a text is faster than reading the text index. */
  readonly compared: number;
  /** Maximum matches that the text index may find. */
  readonly found: number;
}

/** These take 15 ms, 80 ms, and up to 0.2 s. */
const SEARCH_DEPTHS: SearchDepths = { few: 5_000, compared: 100_000, found: 20_000 };

/** A page of the payments that match a text, newest first, with their total. */
export async function searchPartnerPayments(
  db: Database,
  partnerId: string,
  filters: PartnerPaymentFilters,
  window: PageWindow,
  depths: SearchDepths = SEARCH_DEPTHS,
): Promise<Matches> {
  const few = await lookAmongNewest(db, partnerId, filters, window, depths.few);
  if (few.looked < depths.few) return few;
  const found = await findFew(db, partnerId, filters, window, few, depths);
  if (found !== undefined) return found;
  return comparing(db, async tx => {
    const { matching, reached, newest } = await countMatches(tx, partnerId, filters);
    const total = matching + reached;
    if (window.offset >= total) return { total, payments: [] };
    const from = reached === 0 && newest !== null ? { ...filters, createdTo: newest } : filters;
    return { total, payments: await listMatches(tx, partnerId, from, window) };
  });
}

/** A page of the payments that match a text, or any of several merchants or addresses, newest first. */
export async function listSearched(
  db: Database,
  partnerId: string,
  filters: PartnerPaymentFilters,
  window: PageWindow,
  depths: SearchDepths = SEARCH_DEPTHS,
): Promise<readonly PartnerPayment[]> {
  if (!hasText(filters)) {
    const newest = await listMatches(db, partnerId, filters, window, depths.few);
    if (newest.length === window.limit) return newest;
    return listOfSeveral(db, partnerId, filters, window);
  }
  const few = await lookAmongNewest(db, partnerId, filters, window, depths.few);
  if (few.looked < depths.few || few.payments.length === window.limit) return few.payments;
  const found = await findFew(db, partnerId, filters, window, few, depths);
  if (found !== undefined) return found.payments;
  return comparing(db, tx => listMatches(tx, partnerId, filters, window));
}

/** The searched page with its total, if the newest payments let few matches be expected, and few are found. */
async function findFew(
  db: Database,
  partnerId: string,
  filters: PartnerPaymentFilters,
  window: PageWindow,
  { matching, created }: NewestMatches,
  depths: SearchDepths,
): Promise<Matches | undefined> {
  if ((matching / depths.few) * created > depths.found) return undefined;
  if (isIndexed(filters) && created > depths.compared) {
    return findMatches(db, partnerId, filters, window, depths.found);
  }
  return comparing(db, tx => collectMatches(tx, partnerId, filters, window));
}
