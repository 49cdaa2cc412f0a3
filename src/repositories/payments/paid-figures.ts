import { sql } from 'kysely';
import type { Connection } from '../../database/connection.ts';

/** What was paid on a UTC day. */
export interface PaidDay {
  /** YYYY-MM-DD. */
  readonly day: string;
  readonly payments: number;
  readonly cents: number;
}

/** Successful payments of a merchant by the UTC day they were paid on, since a time; days without are left out. */
export async function sumPaidByDay(
  db: Connection,
  merchantId: string,
  since: Date,
): Promise<PaidDay[]> {
  const { rows } = await sql<PaidDay>`
    select to_char(paid_at at time zone 'UTC', 'YYYY-MM-DD') as day,
           count(*) as payments, sum(amount)::bigint as cents
    from payments
    where merchant_id = ${merchantId} and status = 'successful' and paid_at >= ${since}
    group by 1 order by 1`.execute(db);
  return rows;
}
