import { expressionBuilder } from 'kysely';
import type { Connection } from '../../database/connection.ts';
import type { Tables } from '../../database/tables.ts';

/** What was paid on a UTC day. */
export interface PaidDay {
  /** YYYY-MM-DD. */
  readonly day: string;
  readonly payments: number;
  readonly cents: number;
}

const { cast, fn } = expressionBuilder<Tables, 'merchant_paid_deltas'>();

/**
 * Successful payments of a merchant by the UTC day they were paid on, from `fromDay` (YYYY-MM-DD) on, oldest first;
 * days without are left out. From the rollup, exact at any moment.
 */
export function sumPaidByDay(
  db: Connection,
  merchantId: string,
  fromDay: string,
): Promise<PaidDay[]> {
  const of = (table: 'merchant_paid_days' | 'merchant_paid_deltas') =>
    db
      .selectFrom(table)
      .select(['day', 'payments', 'cents'])
      .where('merchant_id', '=', merchantId)
      .where('day', '>=', fromDay);
  const payments = cast<number>(fn.sum('payments'), 'bigint');
  return db
    .selectFrom(of('merchant_paid_days').unionAll(of('merchant_paid_deltas')).as('t'))
    .select(['day', payments.as('payments'), cast<number>(fn.sum('cents'), 'bigint').as('cents')])
    .groupBy('day')
    .having(payments, '>', 0)
    .orderBy('day')
    .execute();
}
