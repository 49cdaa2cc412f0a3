import type { Connection } from '../database/connection.ts';
import type { Payment } from '../database/tables.ts';

/** Reads the payment of a processor's session and locks its row until the transaction ends. */
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

/** The payment of a processor's session, with the name of its merchant. */
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

/** An overdue regulated payment, and its place in the order. */
export interface DueRegulatedPayment {
  readonly id: string;
  readonly processor: string | null;
  readonly external_id: string | null;
  readonly expires_at: Date;
}

interface DueBounds {
  /** The configured processor; null if there is none. */
  readonly processor: string | null;
  /** The latest expiry at which a payment of this processor is due. */
  readonly dueBy: Date;
  /** The same for payments of other processors, whose state nobody can confirm. */
  readonly unconfirmedDueBy: Date;
}

/**
 * Lists at most `limit` due regulated payments without funds, by expiry. Locks none of them: the
 * processor is asked about each before anything changes.
 * @param after The last payment of the previous batch.
 */
export function listDueRegulated(
  db: Connection,
  { processor, dueBy, unconfirmedDueBy }: DueBounds,
  after: DueRegulatedPayment | undefined,
  limit: number,
): Promise<DueRegulatedPayment[]> {
  const due = db
    .selectFrom('payments')
    .select(['id', 'processor', 'external_id', 'expires_at'])
    .where('flow', '=', 'regulated')
    .where('status', '=', 'pending')
    .where('session_status', '=', 'pending')
    .where('expires_at', '<=', dueBy)
    .where(({ eb, or }) =>
      or([eb('processor', '=', processor), eb('expires_at', '<=', unconfirmedDueBy)]),
    )
    .orderBy('expires_at')
    .orderBy('id')
    .limit(limit);
  const page =
    after === undefined
      ? due
      : due.where(({ eb, refTuple, tuple }) =>
          eb(refTuple('expires_at', 'id'), '>', tuple(after.expires_at, after.id)),
        );
  return page.execute();
}
