import { PAGE_SIZE_DEFAULT, type PaymentList } from '#schemas/list-payments.ts';
import type { Connection } from '#storage/database/connection.ts';
import {
  findMerchantPayment,
  listMerchantPayments,
  type PaymentFilters,
} from '#storage/repositories/payments/merchant-payments.ts';
import { cutPage, foreignCursor, type Paging, readCursor } from './paging.ts';
import { toPaymentObject } from './payment-object.ts';

/**
 * One page of a merchant's payments, newest first in either direction.
 * @throws ApiError E1001 for both cursors at once, E3001 for a cursor that is not the merchant's.
 */
export async function listPayments(
  db: Connection,
  merchantId: string,
  paging: Paging,
  filters: PaymentFilters,
): Promise<PaymentList> {
  const limit = paging.limit ?? PAGE_SIZE_DEFAULT;
  const cursor = readCursor(paging);
  const from = cursor && {
    direction: cursor.param === 'startingAfter' ? ('older' as const) : ('newer' as const),
    id: cursor.id,
  };
  // One more than requested shows whether there are more.
  const payments = await listMerchantPayments(db, merchantId, filters, from, limit + 1);
  // A foreign cursor finds nothing, so only an empty page has to check whose it is.
  if (cursor !== undefined && payments.length === 0) {
    const known = await findMerchantPayment(db, merchantId, cursor.id);
    if (known === undefined) throw foreignCursor(cursor, 'a payment');
  }
  const { page, hasMore } = cutPage(payments, limit, cursor);
  return { object: 'list', data: page.map(toPaymentObject), hasMore };
}
