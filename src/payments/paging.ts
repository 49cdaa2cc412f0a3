import { ApiError } from '#errors/api-error.ts';
import type { ListPaymentsQuery } from '#schemas/list-payments.ts';

/** How the lists of the merchant API are paged. */
export type Paging = Pick<ListPaymentsQuery, 'limit' | 'startingAfter' | 'endingBefore'>;

/** The ID that a page begins next to, and the parameter that gave it. */
export interface ListCursor {
  readonly param: 'startingAfter' | 'endingBefore';
  readonly id: string;
}

/** @throws ApiError E1001 for both cursors at once. */
export function readCursor({ startingAfter, endingBefore }: Paging): ListCursor | undefined {
  if (startingAfter !== undefined && endingBefore !== undefined) {
    throw new ApiError('E1001', 'startingAfter and endingBefore exclude each other.', {
      param: 'endingBefore',
    });
  }
  if (startingAfter !== undefined) return { param: 'startingAfter', id: startingAfter };
  if (endingBefore !== undefined) return { param: 'endingBefore', id: endingBefore };
  return undefined;
}

/**
 * A page in the order of its list.
 * @param rows The rows next to the cursor, the nearest first; one more than `limit` if there are more.
 */
export function cutPage<T>(
  rows: readonly T[],
  limit: number,
  cursor: ListCursor | undefined,
): { readonly page: readonly T[]; readonly hasMore: boolean } {
  const page = rows.slice(0, limit);
  if (cursor?.param === 'endingBefore') page.reverse();
  return { page, hasMore: rows.length > limit };
}

/**
 * The error for a cursor that does not belong to the account.
 * @param what What the cursor should be, with its article.
 */
export function foreignCursor({ param }: ListCursor, what: string): ApiError {
  return new ApiError('E3001', `${param} is not ${what} of this account.`, { param });
}
