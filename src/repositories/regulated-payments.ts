import type { Connection } from '../database/connection.ts';
import type { Payment } from '../database/tables.ts';

/** The payment behind a processor's session, its row held until the transaction ends. */
export function lockPaymentOfSession(
  db: Connection,
  processor: string,
  externalId: string,
): Promise<Payment | undefined> {
  return db
    .selectFrom('payments')
    .selectAll()
    .where('processor', '=', processor)
    .where('external_id', '=', externalId)
    .forUpdate()
    .executeTakeFirst();
}

/** The payment behind a processor's session, with the name of its merchant. */
export function findPaymentOfSession(
  db: Connection,
  processor: string,
  externalId: string,
): Promise<(Payment & { merchant_name: string }) | undefined> {
  return db
    .selectFrom('payments')
    .innerJoin('merchants', 'merchants.id', 'payments.merchant_id')
    .selectAll('payments')
    .select('merchants.name as merchant_name')
    .where('processor', '=', processor)
    .where('external_id', '=', externalId)
    .executeTakeFirst();
}
