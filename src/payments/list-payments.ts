import type { ListPaymentsQuery, PaymentList } from '#schemas/list-payments.ts';
import { PAGE_SIZE_DEFAULT } from '#schemas/list-payments.ts';
import type { Connection } from '../database/connection.ts';
import { ApiError } from '../errors/api-error.ts';
import {
  findMerchantPayment,
  listMerchantPayments,
  type PageCursor,
  type PaymentFilters,
} from '../repositories/payments/merchant-payments.ts';
import { toPaymentObject } from './payment-object.ts';

type Paging = Pick<ListPaymentsQuery, 'limit' | 'startingAfter' | 'endingBefore'>;

/**
 * One page of a merchant's payments, newest first in either direction.
 * @throws ApiError E1001 for both cursors at once, E3001 for a cursor that is not the merchant's.
 */
export async function listPayments(
  db: Connection,
  merchantId: string,
  query: Paging,
  filters: PaymentFilters,
): Promise<PaymentList> {
  const limit = query.limit ?? PAGE_SIZE_DEFAULT;
  const cursor = readCursor(query);
  // One more than requested shows whether there are more.
  const payments = await listMerchantPayments(db, merchantId, filters, cursor, limit + 1);
  // A foreign cursor finds nothing, so only an empty page has to check whose it is.
  if (cursor !== undefined && payments.length === 0) await requireCursor(db, merchantId, cursor);
  const hasMore = payments.length > limit;
  const page = payments.slice(0, limit);
  if (cursor?.direction === 'newer') page.reverse();
  return { object: 'list', data: page.map(toPaymentObject), hasMore };
}

function readCursor({ startingAfter, endingBefore }: Paging): PageCursor | undefined {
  if (startingAfter !== undefined && endingBefore !== undefined) {
    throw new ApiError('E1001', 'startingAfter and endingBefore exclude each other.', {
      param: 'endingBefore',
    });
  }
  if (startingAfter !== undefined) return { direction: 'older', id: startingAfter };
  if (endingBefore !== undefined) return { direction: 'newer', id: endingBefore };
  return undefined;
}

async function requireCursor(
  db: Connection,
  merchantId: string,
  { direction, id }: PageCursor,
): Promise<void> {
  if ((await findMerchantPayment(db, merchantId, id)) !== undefined) return;
  const param = direction === 'older' ? 'startingAfter' : 'endingBefore';
  throw new ApiError('E3001', `${param} is not a payment of this account.`, { param });
}
