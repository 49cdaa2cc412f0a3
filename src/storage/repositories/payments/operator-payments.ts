import type { Connection } from '../../database/connection.ts';
import type { Payment, PaymentStatus } from '../../database/payment-tables.ts';

/** All given filters must match. */
export interface OperatorPaymentsQuery {
  readonly merchantId?: string | undefined;
  readonly status?: PaymentStatus | undefined;
  readonly blockchainId?: string | undefined;
  readonly customerReferenceId?: string | undefined;
  /** By creation, inclusive. */
  readonly since?: Date | undefined;
  readonly until?: Date | undefined;
  /** ID of a payment; returns older ones only. */
  readonly before?: string | undefined;
  readonly limit: number;
}

/** Payments of one merchant or all, newest first, at most `limit`. */
export function listOperatorPayments(
  db: Connection,
  query: OperatorPaymentsQuery,
): Promise<Payment[]> {
  const { merchantId, status, blockchainId, customerReferenceId, since, until } = query;
  let rows = db.selectFrom('payments').selectAll().limit(query.limit);
  if (status !== undefined) rows = rows.where('status', '=', status);
  if (blockchainId !== undefined) rows = rows.where('blockchain_id', '=', blockchainId);
  if (customerReferenceId !== undefined) {
    rows = rows.where('customer_reference_id', '=', customerReferenceId);
  }
  if (since !== undefined) rows = rows.where('created_at', '>=', since);
  if (until !== undefined) rows = rows.where('created_at', '<=', until);
  const { before } = query;
  if (merchantId === undefined) {
    // Indexes by creation begin with the merchant. IDs are in the order of creation, too.
    if (before !== undefined) rows = rows.where('id', '<', before);
    return rows.orderBy('id', 'desc').execute();
  }
  if (before !== undefined) {
    rows = rows.where(({ eb, refTuple, selectFrom }) =>
      eb(
        refTuple('created_at', 'id'),
        '<',
        selectFrom('payments')
          .select(['created_at', 'id'])
          .where('id', '=', before)
          .$asTuple('created_at', 'id'),
      ),
    );
  }
  return rows
    .where('merchant_id', '=', merchantId)
    .orderBy('created_at', 'desc')
    .orderBy('id', 'desc')
    .execute();
}
