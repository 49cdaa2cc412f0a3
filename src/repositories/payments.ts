import type { Insertable } from 'kysely';
import type { Connection } from '../database/connection.ts';
import type { Payment, PaymentStatus, PaymentsTable } from '../database/tables.ts';

export interface PaymentFilters {
  readonly status?: PaymentStatus | undefined;
  readonly customerReferenceId?: string | undefined;
  /** Strict bounds. */
  readonly createdAfter?: Date | undefined;
  readonly createdBefore?: Date | undefined;
}

/** Which way from the cursor's payment a page extends; the cursor itself is left out. */
export interface PageCursor {
  readonly direction: 'older' | 'newer';
  readonly createdAt: Date;
  readonly id: string;
}

export function insertPayment(db: Connection, row: Insertable<PaymentsTable>): Promise<Payment> {
  return db.insertInto('payments').values(row).returningAll().executeTakeFirstOrThrow();
}

/** Any payment, for operators and the checkout. */
export function findPayment(db: Connection, id: string): Promise<Payment | undefined> {
  return db.selectFrom('payments').selectAll().where('id', '=', id).executeTakeFirst();
}

/** The payment whose checkout link carries the token of this SHA-256. */
export function findPaymentByCheckoutToken(
  db: Connection,
  tokenHash: Buffer,
): Promise<Payment | undefined> {
  return db
    .selectFrom('payments')
    .selectAll()
    .where('checkout_token_hash', '=', tokenHash)
    .executeTakeFirst();
}

/** A merchant's own payment; another merchant's is undefined like a missing one. */
export function findMerchantPayment(
  db: Connection,
  merchantId: string,
  id: string,
): Promise<Payment | undefined> {
  return db
    .selectFrom('payments')
    .selectAll()
    .where('id', '=', id)
    .where('merchant_id', '=', merchantId)
    .executeTakeFirst();
}

/**
 * At most `limit` payments of a merchant: the nearest ones to the cursor in its direction, which for
 * `newer` means oldest first. Without a cursor the newest come first.
 */
export function listMerchantPayments(
  db: Connection,
  merchantId: string,
  filters: PaymentFilters,
  cursor: PageCursor | undefined,
  limit: number,
): Promise<Payment[]> {
  const { status, customerReferenceId, createdAfter, createdBefore } = filters;
  const order = cursor?.direction === 'newer' ? 'asc' : 'desc';
  let query = db.selectFrom('payments').selectAll().where('merchant_id', '=', merchantId);
  if (status !== undefined) query = query.where('status', '=', status);
  if (customerReferenceId !== undefined) {
    query = query.where('customer_reference_id', '=', customerReferenceId);
  }
  if (createdAfter !== undefined) query = query.where('created_at', '>', createdAfter);
  if (createdBefore !== undefined) query = query.where('created_at', '<', createdBefore);
  if (cursor !== undefined) {
    query = query.where(({ eb, refTuple, tuple }) =>
      eb(
        refTuple('created_at', 'id'),
        cursor.direction === 'newer' ? '>' : '<',
        tuple(cursor.createdAt, cursor.id),
      ),
    );
  }
  return query.orderBy('created_at', order).orderBy('id', order).limit(limit).execute();
}
