import type { ListPaymentsQuery, PaymentList } from '#schemas/list-payments.ts';
import { PAGE_SIZE_DEFAULT } from '#schemas/list-payments.ts';
import type { Connection } from '../database/connection.ts';
import { ApiError } from '../errors/api-error.ts';
import {
  findMerchantPayment,
  listMerchantPayments,
  type PageCursor,
  type PaymentFilters,
} from '../repositories/payments.ts';
import { toPaymentObject } from './payment-object.ts';

/**
 * One page of a merchant's payments, newest first whichever way it extends.
 * @throws ApiError E1001 for both cursors at once, E3001 for a cursor that is not the merchant's.
 */
export async function listPayments(
  db: Connection,
  merchantId: string,
  query: Pick<ListPaymentsQuery, 'limit' | 'startingAfter' | 'endingBefore'>,
  filters: PaymentFilters,
): Promise<PaymentList> {
  const limit = query.limit ?? PAGE_SIZE_DEFAULT;
  const cursor = await findCursor(db, merchantId, query);
  // One more than asked for tells whether there are more.
  const payments = await listMerchantPayments(db, merchantId, filters, cursor, limit + 1);
  const hasMore = payments.length > limit;
  const page = payments.slice(0, limit);
  if (cursor?.direction === 'newer') page.reverse();
  return { object: 'list', data: page.map(toPaymentObject), hasMore };
}

async function findCursor(
  db: Connection,
  merchantId: string,
  { startingAfter, endingBefore }: Pick<ListPaymentsQuery, 'startingAfter' | 'endingBefore'>,
): Promise<PageCursor | undefined> {
  if (startingAfter !== undefined && endingBefore !== undefined) {
    throw new ApiError('E1001', 'startingAfter and endingBefore exclude each other.', {
      param: 'endingBefore',
    });
  }
  const id = startingAfter ?? endingBefore;
  if (id === undefined) return undefined;
  const param = startingAfter === undefined ? 'endingBefore' : 'startingAfter';
  const payment = await findMerchantPayment(db, merchantId, id);
  if (payment === undefined) {
    throw new ApiError('E3001', `${param} is not a payment of this account.`, { param });
  }
  const direction = param === 'startingAfter' ? 'older' : 'newer';
  return { direction, createdAt: payment.created_at, id: payment.id };
}
