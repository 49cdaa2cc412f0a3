import { type ExpressionBuilder, expressionBuilder } from 'kysely';
import type { Connection } from '../../database/connection.ts';
import type { PaymentStatus } from '../../database/payment-tables.ts';
import type { Tables } from '../../database/tables.ts';
import { isAny, sumOfPayments, totals } from './totals.ts';

/**
 * Figures of a partner from its rollups, exact at any moment like the counts of its lists. Unlike lists they leave
 * test merchants out. Rollups are by merchant, and a merchant's environment never changes, so that leaving them out
 * here is exact for every payment there ever was.
 */

export interface Sum {
  payments: number;
  /** USD cents. */
  cents: number;
}

/** What rollups have in common. */
interface Row {
  merchant_id: string;
}

const { cast, fn } = expressionBuilder<Tables, 'partner_deltas'>();

const sumOfCents = cast<number>(fn.sum('cents'), 'bigint').as('cents');

/** Whether a row of rollups is of a live merchant. */
function isLive({ not, exists, selectFrom }: ExpressionBuilder<Tables & { t: Row }, 't'>) {
  const tested = selectFrom('merchants')
    .select('merchants.id')
    .where('merchants.environment', '=', 'test')
    .whereRef('merchants.id', '=', 't.merchant_id');
  return not(exists(tested));
}

/** Sums of the merchants' payments by status; none of a test merchant. */
export function sumByMerchantAndStatus(
  db: Connection,
  partnerId: string,
  merchantIds: readonly string[],
): Promise<(Sum & { merchantId: string; status: PaymentStatus })[]> {
  return db
    .selectFrom(totals(db, partnerId).as('t'))
    .select(['merchant_id as merchantId', 'status', sumOfPayments, sumOfCents])
    .where(isAny('merchant_id', merchantIds))
    .where(isLive)
    .groupBy(['merchant_id', 'status'])
    .execute();
}

/** Sums of all payments of the partner's live merchants by status. */
export function sumByStatus(
  db: Connection,
  partnerId: string,
): Promise<(Sum & { status: PaymentStatus })[]> {
  return db
    .selectFrom(totals(db, partnerId).as('t'))
    .select(['status', sumOfPayments, sumOfCents])
    .where(isLive)
    .groupBy('status')
    .execute();
}

/**
 * Sums of successful payments of live merchants by the UTC day they were paid on, from `fromDay` (YYYY-MM-DD)
 * on.
 */
export function sumByPaidDay(
  db: Connection,
  partnerId: string,
  fromDay: string,
): Promise<(Sum & { day: string })[]> {
  return db
    .selectFrom(paidDays(db, partnerId, fromDay).as('t'))
    .select(['day', sumOfPayments, sumOfCents])
    .where(isLive)
    .groupBy('day')
    .orderBy('day')
    .execute();
}

/** Cents of each live merchant's successful payments paid on `fromDay` (YYYY-MM-DD) or later. */
export async function paidCentsByMerchant(
  db: Connection,
  partnerId: string,
  fromDay: string,
  merchantIds: readonly string[],
): Promise<Map<string, number>> {
  const rows = await db
    .selectFrom(paidDays(db, partnerId, fromDay).as('t'))
    .select(['merchant_id as merchantId', sumOfCents])
    .where(isAny('merchant_id', merchantIds))
    .where(isLive)
    .groupBy('merchant_id')
    .execute();
  return new Map(rows.map(row => [row.merchantId, row.cents]));
}

/**
 * Cents of commission on successful payments of the partner's live merchants.
 * @param merchantId Only payments of this merchant.
 */
export async function sumCommissions(
  db: Connection,
  partnerId: string,
  merchantId?: string,
): Promise<number> {
  const { cents } = await commissions(db, partnerId)
    .$if(merchantId !== undefined, query => query.where('merchant_id', '=', merchantId ?? ''))
    .executeTakeFirstOrThrow();
  return cents ?? 0;
}

/** Selects what `sumCommissions` returns; the sum of no rows is null. */
export function commissions(db: Connection, partnerId: string) {
  const deltas = db.selectFrom('partner_commission_deltas').select(['merchant_id', 'cents']);
  const all = db
    .selectFrom('partner_commissions')
    .select(['merchant_id', 'cents'])
    .where('partner_id', '=', partnerId)
    .unionAll(deltas.where('partner_id', '=', partnerId));
  return db
    .selectFrom(all.as('t'))
    .select(sumOfCents)
    .where(isLive)
    .$castTo<{ cents: number | null }>();
}

function paidDays(db: Connection, partnerId: string, fromDay: string) {
  return db
    .selectFrom('partner_paid_days')
    .select(['merchant_id', 'day', 'payments', 'cents'])
    .where('partner_id', '=', partnerId)
    .where('day', '>=', fromDay)
    .unionAll(
      db
        .selectFrom('partner_deltas')
        .select(['merchant_id', 'paid_day as day', 'payments', 'cents'])
        .where('partner_id', '=', partnerId)
        .where('status', '=', 'successful')
        .where('paid_day', '>=', fromDay)
        .$narrowType<{ day: string }>(),
    );
}
