import { type RawBuilder, type SqlBool, sql } from 'kysely';
import type { Connection } from '../../database/connection.ts';
import type { Deviation } from '../../database/deposit-tables.ts';
import type { Payment, PaymentStatus } from '../../database/payment-tables.ts';
import { ARRIVED, deviates } from '../deposits/deviations.ts';
import { containing } from '../like-pattern.ts';

/** Which payments are searched for. All given conditions must hold. */
export interface PaymentSearch {
  readonly status?: PaymentStatus | undefined;
  /** Strict bounds. */
  readonly createdAfter?: Date | undefined;
  readonly createdBefore?: Date | undefined;
  /** How what has arrived differs from what was asked for. */
  readonly deviation?: Deviation | undefined;
  readonly text?: SearchText | undefined;
}

/** What a payment may contain: one of these. */
export interface SearchText {
  /** The whole reference or, in whatever case, address. */
  readonly whole: string;
  /** Part of the reference in whatever case; null for a text that is too short. */
  readonly part: string | null;
  /** The price in cents; null for a text that is no price. */
  readonly cents: number | null;
  /** The amount on chain as a decimal; null for a text that is no amount. */
  readonly tokens: string | null;
  /** ID of the oldest payment of the whole reference that is known: it and newer ones are left out. */
  readonly told?: string | undefined;
}

/**
 * Payments that one search looks at, so that it takes no longer for a merchant with millions of them: 25 ms
 * where they are in memory.
 */
export const SEARCH_WINDOW = 10_000;

export interface FoundPayments {
  /** Newest first. */
  readonly payments: Payment[];
  /** ID of the last payment that was looked at, where there are older ones; null otherwise. */
  readonly end: string | null;
}

/**
 * At most `limit` of a merchant's payments that match, among `SEARCH_WINDOW` ones.
 * @param after ID of a payment of the merchant: the search goes on with the ones before it.
 */
export async function searchPayments(
  db: Connection,
  merchantId: string,
  search: PaymentSearch,
  { after, limit }: { readonly after: string | undefined; readonly limit: number },
): Promise<FoundPayments> {
  const looked = candidates(merchantId, search, after);
  const last = sql<{ id: string }>`
    select id from (${looked}) as looked
    order by created_at desc, id desc offset ${SEARCH_WINDOW - 1} limit 1`;
  // With `offset 0` each payment is read by its key, in the order of the candidates.
  const found = sql<Payment>`
    select payments.*
    from (select * from (${looked}) as looked
          order by created_at desc, id desc limit ${SEARCH_WINDOW}) as candidate
    cross join lateral (
      select * from payments where payments.id = candidate.id offset 0
    ) as payments
    ${search.deviation === undefined ? sql`` : ARRIVED}
    where ${conditions(merchantId, search)}
    order by candidate.created_at desc, candidate.id desc limit ${limit}`;
  const [{ rows: payments }, { rows: ends }] = await Promise.all([
    found.execute(db),
    last.execute(db),
  ]);
  return { payments, end: ends[0]?.id ?? null };
}

/** The payments that are looked at, by their creation: `created_at` and `id`. */
function candidates(
  merchantId: string,
  { status, createdAfter, createdBefore, deviation }: PaymentSearch,
  after: string | undefined,
): RawBuilder<unknown> {
  const id = sql.ref(deviation === undefined ? 'id' : 'payment_id');
  const all: RawBuilder<unknown>[] = [sql`merchant_id = ${merchantId}`];
  if (deviation !== undefined) all.push(sql`kind = ${deviation}`);
  else if (status !== undefined) all.push(sql`status = ${status}`);
  if (createdAfter !== undefined) all.push(sql`created_at > ${createdAfter}`);
  if (createdBefore !== undefined) all.push(sql`created_at < ${createdBefore}`);
  if (after !== undefined) {
    all.push(sql`
      (created_at, ${id}) < (select cursor.created_at, cursor.id from payments as cursor
                             where cursor.id = ${after} and cursor.merchant_id = ${merchantId})`);
  }
  const where = sql.join(all, sql` and `);
  return deviation === undefined
    ? sql`select created_at, id from payments where ${where}`
    : sql`
        select distinct on (created_at, payment_id) created_at, payment_id as id
        from deviating_deposits where ${where} order by created_at desc, payment_id desc`;
}

function conditions(
  merchantId: string,
  { status, deviation, text }: PaymentSearch,
): RawBuilder<SqlBool> {
  const all: RawBuilder<unknown>[] = [sql`true`];
  if (status !== undefined) all.push(sql`payments.status = ${status}`);
  if (deviation !== undefined) all.push(deviates(deviation));
  if (text !== undefined) all.push(sql`(${sql.join(textMatches(text), sql` or `)})`);
  if (text?.told !== undefined) {
    all.push(sql`
      (payments.customer_reference_id = ${text.whole}
       and (payments.created_at, payments.id) >= (
         select told.created_at, told.id from payments as told
         where told.id = ${text.told} and told.merchant_id = ${merchantId})) is not true`);
  }
  return sql<SqlBool>`${sql.join(all, sql` and `)}`;
}

function textMatches({ whole, part, cents, tokens }: SearchText): RawBuilder<unknown>[] {
  const any: RawBuilder<unknown>[] = [
    sql`payments.customer_reference_id = ${whole}`,
    sql`lower(payments.address) = lower(${whole})`,
  ];
  if (part !== null) any.push(sql`payments.customer_reference_id ilike ${containing(part)}`);
  if (cents !== null) any.push(sql`payments.amount = ${cents}`);
  if (tokens !== null) {
    any.push(sql`
      payments.token_amount = ${tokens}::numeric * power(10::numeric, payments.token_decimals)`);
  }
  return any;
}
