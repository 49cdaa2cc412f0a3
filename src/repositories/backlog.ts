import { sql } from 'kysely';
import type { Connection } from '../database/connection.ts';
import type { PaymentFlow } from '../database/payment-tables.ts';
import { known, MAY_BE_PAID, MAY_BE_UNDONE } from './payments/moves.ts';

/** Maximum rows that a count reads, because counts are repeated constantly. */
export const COUNTED_MAXIMUM = 50_000;

export interface PendingPayments {
  readonly flow: PaymentFlow;
  /** null if no network is selected. */
  readonly blockchainId: string | null;
  readonly count: number;
}

/** Pending payments by flow and network; counts the `COUNTED_MAXIMUM` that expire first. */
export async function countPendingPayments(db: Connection): Promise<PendingPayments[]> {
  const { rows } = await sql<PendingPayments>`
    select flow, blockchain_id as "blockchainId", count(*)::integer as count
    from (select flow, blockchain_id from payments where status = 'pending'
          order by expires_at limit ${COUNTED_MAXIMUM}) as pending
    group by flow, blockchain_id`.execute(db);
  return rows;
}

export interface Overdue {
  readonly flow: PaymentFlow;
  /** The earliest expiry. */
  readonly since: Date;
}

/**
 * Flows with overdue payments without funds. Those that wait for their network's watcher are not overdue:
 * it is the watcher that is behind.
 */
export async function findOverdue(db: Connection, now: Date): Promise<Overdue[]> {
  const { rows } = await sql<Overdue>`
    select flow, min(expires_at) as since
    from (
      select due.*
      from (
        ${known(now)} union all select '', 'simulation', ${now}::timestamptz
      ) as known cross join lateral (
        select flow, expires_at from payments
        where flow = 'crypto' and status = 'pending' and session_status = 'pending'
          and coalesce(blockchain_id, '') = known.id and expires_at <= known.until
          and not ${MAY_BE_UNDONE} and not ${MAY_BE_PAID}
        order by expires_at limit 1) as due
      union all (
        select flow, expires_at from payments
        where flow = 'regulated' and status = 'pending' and session_status = 'pending'
          and expires_at <= ${now}
        order by coalesce(inquire_at, expires_at) limit ${COUNTED_MAXIMUM})
    ) as overdue
    group by flow`.execute(db);
  return rows;
}

export interface DueDeliveries {
  readonly count: number;
  /** When the oldest one was due; null if there are none. */
  readonly since: Date | null;
}

/** Deliveries with a due attempt, including those in flight; counts at most `COUNTED_MAXIMUM`. */
export async function countDueDeliveries(db: Connection, now: Date): Promise<DueDeliveries> {
  const { rows } = await sql<DueDeliveries>`
    select count(*)::integer as count, min(next_attempt_at) as since
    from (select next_attempt_at from webhook_deliveries
          where status = 'pending' and next_attempt_at <= ${now}
          order by next_attempt_at limit ${COUNTED_MAXIMUM}) as due`.execute(db);
  return rows[0] ?? { count: 0, since: null };
}

/** Deposits in the inbox; counts at most `COUNTED_MAXIMUM`. */
export async function countUnmatchedDeposits(db: Connection): Promise<number> {
  const { rows } = await sql<{ count: number }>`
    select count(*)::integer as count
    from (select from deposits
          where payment_id is null and dismissed_at is null and state in ('seen', 'final')
          limit ${COUNTED_MAXIMUM}) as unmatched`.execute(db);
  return rows[0]?.count ?? 0;
}
