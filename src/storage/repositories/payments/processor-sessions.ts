import { sql } from 'kysely';
import type { ActiveStatus, MerchantEnvironment } from '../../database/account-tables.ts';
import type { Connection } from '../../database/connection.ts';
import type { Payment, SessionStatus } from '../../database/payment-tables.ts';

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

/** The payment of a processor's session, with what its page shows of its merchant. */
export function findPaymentOfSession(
  db: Connection,
  processor: string,
  externalId: string,
): Promise<(Payment & OfMerchant) | undefined> {
  return db
    .selectFrom('payments')
    .innerJoin('merchants', 'merchants.id', 'payments.merchant_id')
    .selectAll('payments')
    .select(['merchants.name as merchant_name', 'merchants.environment as merchant_environment'])
    .where('processor', '=', processor)
    .where('external_id', '=', externalId)
    .executeTakeFirst();
}

interface OfMerchant {
  merchant_name: string;
  merchant_environment: MerchantEnvironment;
}

/** A regulated payment to ask its processor about. */
export interface Inquiry {
  readonly id: string;
  readonly processor: string | null;
  readonly external_id: string | null;
  readonly session_status: SessionStatus;
  readonly expires_at: Date;
  readonly merchant_status: ActiveStatus;
}

/** Pauses between inquiries about a payment, in milliseconds. */
export interface Pauses {
  /** Shortest pause before the payment's expiry. */
  readonly first: number;
  /** Shortest and longest pause after it. */
  readonly shortest: number;
  readonly longest: number;
  /** Pause while an open payment is to be cancelled, since its merchant is inactive. */
  readonly cancelling: number;
}

/**
 * Claims at most `limit` regulated payments that are due for an inquiry and have not ended, those due
 * longest first, by setting the time of their next one. Before the expiry the pause is the payment's
 * age, but an inquiry comes at the expiry itself; after it, the pause is the time since. Skips rows
 * locked by others.
 */
export async function claimInquiries(
  db: Connection,
  { first, shortest, longest, cancelling }: Pauses,
  now: Date,
  limit: number,
): Promise<Inquiry[]> {
  const at = sql`${now}::timestamptz`;
  const pause = (milliseconds: number) => sql`${milliseconds} * interval '1 millisecond'`;
  const { rows } = await sql<Inquiry>`
    update payments set inquire_at = case
      when payments.expires_at <= ${at}
      then ${at} + least(${pause(longest)}, greatest(${pause(shortest)}, ${at} - payments.expires_at))
      when merchants.status = 'inactive' and session_status = 'pending'
      then least(payments.expires_at, ${at} + ${pause(cancelling)})
      else least(payments.expires_at, ${at} + greatest(${pause(first)}, ${at} - payments.created_at))
    end
    from (
      select id from payments
      where flow = 'regulated' and status = 'pending'
        and coalesce(inquire_at, expires_at) <= ${at}
      order by coalesce(inquire_at, expires_at) limit ${limit}
      for update skip locked) as due, merchants
    where payments.id = due.id and merchants.id = payments.merchant_id
    returning payments.id, processor, external_id, session_status, expires_at,
              merchants.status as merchant_status`.execute(db);
  return rows;
}
