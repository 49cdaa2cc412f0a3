import type { Connection } from '#storage/database/connection.ts';
import { type PaidDay, sumPaidByDay } from '#storage/repositories/payments/paid-figures.ts';
import { TREND_DAYS, trendDays, trendStart, utcDay } from '#time/days.ts';

/** What a merchant was paid; volumes in cents, today included, by UTC days. */
export interface PaidFigures {
  readonly today: Omit<PaidDay, 'day'>;
  readonly last7Days: Omit<PaidDay, 'day'>;
  readonly last30Days: Omit<PaidDay, 'day'>;
  /** The last 30 days, oldest first, those without a payment included. */
  readonly days: readonly PaidDay[];
}

/** Sums a merchant's successful payments of the last 30 UTC days, by when they were paid. */
export async function readPaidFigures(
  db: Connection,
  merchantId: string,
  now: Date,
): Promise<PaidFigures> {
  const sums = await sumPaidByDay(db, merchantId, trendStart(now));
  const paid = new Map(sums.map(each => [each.day, each] as const));
  const days = trendDays(now).map(day => paid.get(day) ?? { day, payments: 0, cents: 0 });
  return {
    today: sum(days.filter(({ day }) => day === utcDay(now))),
    last7Days: sum(days.slice(-7)),
    last30Days: sum(days.slice(-TREND_DAYS)),
    days,
  };
}

function sum(days: readonly PaidDay[]): Omit<PaidDay, 'day'> {
  return {
    payments: days.reduce((total, { payments }) => total + payments, 0),
    cents: days.reduce((total, { cents }) => total + cents, 0),
  };
}
