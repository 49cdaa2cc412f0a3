import { sql } from 'kysely';
import type { Connection } from '../database/connection.ts';
import type { PaymentFlow } from '../database/tables.ts';

/** Rows that a count looks at, at most: it is looked at again and again. */
export const COUNTED_MAXIMUM = 50_000;

export interface PendingPayments {
  readonly flow: PaymentFlow;
  /** null where no network is chosen. */
  readonly blockchainId: string | null;
  readonly count: number;
}

/** Payments that wait, by flow and network; of more than `COUNTED_MAXIMUM` those that expire first. */
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
  /** When the one that is longest overdue was to expire. */
  readonly since: Date;
}

/** Since when payments that no funds have been seen for are overdue, for each flow that has any. */
export async function findOverdue(db: Connection, now: Date): Promise<Overdue[]> {
  const { rows } = await sql<Overdue>`
    select flow, min(expires_at) as since
    from (select flow, expires_at from payments
          where status = 'pending' and session_status = 'pending' and expires_at <= ${now}
          order by expires_at limit ${COUNTED_MAXIMUM}) as overdue
    group by flow`.execute(db);
  return rows;
}

export interface DueDeliveries {
  readonly count: number;
  /** When the oldest was to be attempted; null without any. */
  readonly since: Date | null;
}

/** Deliveries whose attempt is due, those under way included; at most `COUNTED_MAXIMUM` are counted. */
export async function countDueDeliveries(db: Connection, now: Date): Promise<DueDeliveries> {
  const { rows } = await sql<DueDeliveries>`
    select count(*)::integer as count, min(next_attempt_at) as since
    from (select next_attempt_at from webhook_deliveries
          where status = 'pending' and next_attempt_at <= ${now}
          order by next_attempt_at limit ${COUNTED_MAXIMUM}) as due`.execute(db);
  return rows[0] ?? { count: 0, since: null };
}

export type JobState = 'ready' | 'scheduled' | 'running' | 'dead';

/** Jobs in the queue by state, without the states that have none; at most `COUNTED_MAXIMUM`. */
export async function countJobs(
  db: Connection,
): Promise<{ readonly state: JobState; readonly count: number }[]> {
  const { rows } = await sql<{ state: JobState; count: number }>`
    select state, count(*)::integer as count
    from (select case when attempts >= max_attempts and locked_at is null then 'dead'
                      when locked_at is not null then 'running'
                      when run_at <= now() then 'ready'
                      else 'scheduled' end as state
          from graphile_worker.jobs limit ${COUNTED_MAXIMUM}) as job
    group by state`.execute(db);
  return rows;
}

/** Deposits that no payment took and nobody has dismissed; at most `COUNTED_MAXIMUM` are counted. */
export async function countUnmatchedDeposits(db: Connection): Promise<number> {
  const { rows } = await sql<{ count: number }>`
    select count(*)::integer as count
    from (select from deposits
          where payment_id is null and dismissed_at is null and state in ('seen', 'final')
          limit ${COUNTED_MAXIMUM}) as unmatched`.execute(db);
  return rows[0]?.count ?? 0;
}
