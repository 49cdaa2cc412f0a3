import type { Connection } from '../../database/connection.ts';

/** A merchant's requests to one route of the older contract. */
interface LegacyUsage {
  merchantId: string;
  merchantName: string;
  /** Method and path, for example `GET /external/payments/prompt/:id`. */
  route: string;
  requests: number;
  /** UTC calendar days, YYYY-MM-DD. */
  firstDay: string;
  lastDay: string;
}

/**
 * Counts one request.
 * @param day UTC calendar day, YYYY-MM-DD.
 */
export async function countLegacyRequest(
  db: Connection,
  merchantId: string,
  day: string,
  route: string,
): Promise<void> {
  await db
    .insertInto('legacy_usage')
    .values({ merchant_id: merchantId, day, route, requests: 1 })
    .onConflict(conflict =>
      conflict
        .columns(['merchant_id', 'day', 'route'])
        .doUpdateSet(({ eb }) => ({ requests: eb('legacy_usage.requests', '+', 1) })),
    )
    .execute();
}

/**
 * Usage by merchant and route, the most recently active merchants first; at most 10,000 rows.
 * @param since First UTC calendar day to count, YYYY-MM-DD.
 */
export function listLegacyUsage(db: Connection, since: string | undefined): Promise<LegacyUsage[]> {
  return db
    .selectFrom('legacy_usage')
    .innerJoin('merchants', 'merchants.id', 'legacy_usage.merchant_id')
    .select(({ cast, fn }) => [
      'merchants.id as merchantId',
      'merchants.name as merchantName',
      'legacy_usage.route',
      // A sum of bigint is numeric, which the driver returns as text.
      cast<number>(fn.sum('legacy_usage.requests'), 'bigint').as('requests'),
      fn.min('legacy_usage.day').as('firstDay'),
      fn.max('legacy_usage.day').as('lastDay'),
    ])
    .$if(since !== undefined, query => query.where('legacy_usage.day', '>=', since ?? ''))
    .groupBy(['merchants.id', 'merchants.name', 'legacy_usage.route'])
    .orderBy(
      ({ fn }) => fn.max(fn.max('legacy_usage.day')).over(over => over.partitionBy('merchants.id')),
      'desc',
    )
    .orderBy('merchants.id')
    .orderBy('legacy_usage.route')
    .limit(10_000)
    .execute();
}
