import { type AliasableExpression, type RawBuilder, sql } from 'kysely';
import type { Connection } from '../../database/connection.ts';
import type { Payment } from '../../database/payment-tables.ts';
import { conditions, hasText, leadOf, type PartnerPaymentFilters } from './payment-filters.ts';
import { NEWEST_FIRST, type PageWindow } from './payments.ts';

/** The newest payments that match the leading filter (`leadOf`). */
export function newestPayments(
  db: Connection,
  partnerId: string,
  filters: PartnerPaymentFilters,
  depth: number,
) {
  return db
    .selectFrom('payments')
    .selectAll()
    .where(conditions(partnerId, leadOf(filters)))
    .orderBy('created_at', 'desc')
    .orderBy('id', 'desc')
    .limit(depth);
}

/** Payments that match, in their order, among all or the newest `depth`. */
export function pageInOrder(
  db: Connection,
  partnerId: string,
  filters: PartnerPaymentFilters,
  { limit, offset }: PageWindow,
  depth?: number,
) {
  const source =
    depth === undefined
      ? db.selectFrom('payments')
      : db.selectFrom(newestPayments(db, partnerId, filters, depth).as('payments'));
  const chosen = source
    .select('id')
    .where(conditions(partnerId, filters))
    .orderBy('created_at', 'desc')
    .orderBy('id', 'desc')
    .limit(limit)
    .offset(offset);
  return db
    .selectFrom(chosen.as('chosen'))
    .innerJoin('payments', 'payments.id', 'chosen.id')
    .selectAll('payments');
}

/**
 * A page of `found`, or of the payments of each merchant and address: a union with one branch per way to match, each
 * one sorted and limited to what the page needs.
 */
export function pageOfFound(
  partnerId: string,
  { term, ...rest }: PartnerPaymentFilters,
  { limit, offset }: PageWindow,
): AliasableExpression<Payment> {
  const enough = sql`order by ${NEWEST_FIRST} limit ${offset + limit}`;
  const each = (column: 'merchant_id' | 'address', values: readonly string[]) => {
    const type = sql.raw(column === 'address' ? 'text' : 'uuid');
    return sql`(select of_one.* from unnest(${[...values]}::${type}[]) as one (value)
      cross join lateral (
        select id, created_at from payments where ${conditions(partnerId, rest)}
        and ${sql.ref(column)} = one.value ${enough}
      ) as of_one)`;
  };
  const branches: RawBuilder<unknown>[] = [];
  if (hasText({ ...rest, term })) {
    branches.push(sql`(select id, created_at from found ${enough})`);
  } else if (rest.addresses !== undefined) {
    branches.push(each('address', rest.addresses));
  } else {
    branches.push(each('merchant_id', rest.merchantIds ?? []));
  }
  if (term !== undefined) {
    branches.push(each('merchant_id', term.reach.merchantIds));
    branches.push(each('address', term.reach.addresses));
  }
  return sql<Payment>`(
    select payments.* from (
      select distinct on (created_at, id) * from (${sql.join(branches, sql` union all `)}) as every
      order by ${NEWEST_FIRST} limit ${limit} offset ${offset}
    ) as chosen join payments on payments.id = chosen.id)`;
}
