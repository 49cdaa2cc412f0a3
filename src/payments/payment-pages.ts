import type { PaymentObject } from '#schemas/payment.ts';
import type { Connection } from '#storage/database/connection.ts';
import type { PaymentSearch } from '#storage/repositories/payments/search.ts';
import { listPayments } from './list-payments.ts';
import { findPayments, type SearchCursor } from './search-payments.ts';

/** Which of a merchant's payments are shown. All given conditions must hold. */
export interface WantedPayments {
  readonly filters: Omit<PaymentSearch, 'text'>;
  readonly text?: string | undefined;
}

/** Filters that no index serves, so that a page searches for what they let pass. */
const SEARCHED = ['deviation', 'blockchainId', 'amountMinimum', 'amountMaximum'] as const;

/** Where a page begins; default: at the newest payment. */
type PagePlace = Partial<SearchCursor> & {
  /** ID of a payment: the page ends just before it. Counts only without `after`, and not in a search. */
  readonly before?: string | undefined;
};

/** One page of payments, newest first, and the cursors of the pages beside it. */
interface PaymentPage {
  readonly data: readonly PaymentObject[];
  /** Whether the page is the result of a search, which reads a bounded number of payments at a time. */
  readonly isSearched: boolean;
  /** ID of the payment that the newer page ends before; null if there is none, and in a search. */
  readonly before: string | null;
  /** Where the older ones begin; null at the end. */
  readonly next: SearchCursor | null;
}

/**
 * A page of a merchant's payments: from the list if they are filtered by status and time alone, else from a search.
 * @throws ApiError E3001 for a cursor that is not the merchant's.
 */
export async function readPaymentPage(
  db: Connection,
  merchantId: string,
  { filters, text }: WantedPayments,
  { after, told, before, limit }: PagePlace & { readonly limit: number },
): Promise<PaymentPage> {
  if (text !== undefined || SEARCHED.some(name => filters[name] !== undefined)) {
    const cursor = after === undefined ? undefined : { after, told };
    const page = await findPayments(db, merchantId, { filters, text }, { cursor, limit });
    return { ...page, isSearched: true, before: null };
  }
  const isNewer = after === undefined && before !== undefined;
  const cursor = isNewer ? { endingBefore: before } : after && { startingAfter: after };
  const { data, hasMore } = await listPayments(db, merchantId, { limit, ...cursor }, filters);
  const [first, last] = [data[0], data.at(-1)];
  const hasNewer = isNewer ? hasMore : after !== undefined;
  const hasOlder = isNewer || hasMore;
  return {
    data,
    isSearched: false,
    before: hasNewer && first !== undefined ? first.id : null,
    next: hasOlder && last !== undefined ? { after: last.id } : null,
  };
}

/** All pages of `readPaymentPage`, to the end; a page of a search may be empty. */
export async function* readPaymentPages(
  db: Connection,
  merchantId: string,
  wanted: WantedPayments,
  limit: number,
): AsyncGenerator<readonly PaymentObject[]> {
  let place: PagePlace | null = {};
  while (place !== null) {
    const page: PaymentPage = await readPaymentPage(db, merchantId, wanted, { ...place, limit });
    yield page.data;
    place = page.next;
  }
}
