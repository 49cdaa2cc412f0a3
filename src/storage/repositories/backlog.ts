import { sql } from 'kysely';
import type { Connection } from '../database/connection.ts';
import type { PaymentFlow } from '../database/payment-tables.ts';
import { IS_WAITING } from './deposits/deposits.ts';
import { known, MAY_BE_PAID, MAY_BE_UNDONE } from './payments/moves.ts';
import { countRows } from './rows.ts';

/** Maximum rows that a count reads, because counts are repeated constantly. */
export const COUNTED_MAXIMUM = 50_000;

interface PendingPayments {
  readonly flow: PaymentFlow;
  /** null if no network is selected. */
  readonly blockchainId: string | null;
  readonly count: number;
}

/** Pending payments by flow and network; counts the `COUNTED_MAXIMUM` that expire first. */
export function countPendingPayments(db: Connection): Promise<PendingPayments[]> {
  const pending = db
    .selectFrom('payments')
    .select(['flow', 'blockchain_id'])
    .where('status', '=', sql.lit('pending'))
    .orderBy('expires_at')
    .limit(COUNTED_MAXIMUM);
  return db
    .selectFrom(pending.as('pending'))
    .select(['flow', 'blockchain_id as blockchainId'])
    .select(({ fn }) => fn.countAll<number>().as('count'))
    .groupBy(['flow', 'blockchain_id'])
    .execute();
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

interface DueDeliveries {
  readonly count: number;
  /** When the oldest one was due; null if there are none. */
  readonly since: Date | null;
}

/** Deliveries with a due attempt, including those in flight; counts at most `COUNTED_MAXIMUM`. */
export function countDueDeliveries(db: Connection, now: Date): Promise<DueDeliveries> {
  const due = db
    .selectFrom('webhook_deliveries')
    .select('next_attempt_at')
    .where('status', '=', sql.lit('pending'))
    .where('next_attempt_at', '<=', now)
    .orderBy('next_attempt_at')
    .limit(COUNTED_MAXIMUM);
  return db
    .selectFrom(due.as('due'))
    .select(({ fn }) => [fn.countAll<number>().as('count'), fn.min('next_attempt_at').as('since')])
    .executeTakeFirstOrThrow();
}

/** Deposits in the inbox; counts at most `COUNTED_MAXIMUM`. */
export async function countUnmatchedDeposits(db: Connection): Promise<number> {
  const unmatched = db.selectFrom('deposits').select('id').where(IS_WAITING).limit(COUNTED_MAXIMUM);
  return countRows(db.selectFrom(unmatched.as('unmatched')));
}
