import { type Expression, expressionBuilder, type RawBuilder, type SqlBool, sql } from 'kysely';
import type { Connection } from '../../database/connection.ts';
import type { DeviatingDepositsTable, Deviation } from '../../database/deposit-tables.ts';
import type { Payment, PaymentStatus } from '../../database/payment-tables.ts';
import type { Tables } from '../../database/tables.ts';
import { ARRIVED, deviates } from '../deposits/deviations.ts';
import { containing } from '../like-pattern.ts';

/** Which payments are searched for. All given conditions must hold. */
export interface PaymentSearch {
  readonly status?: PaymentStatus | undefined;
  /** Strict bounds. */
  readonly createdAfter?: Date | undefined;
  readonly createdBefore?: Date | undefined;
  /** Network that its customer has chosen. */
  readonly blockchainId?: string | undefined;
  /** Bounds of its price in cents, both included. */
  readonly amountMinimum?: number | undefined;
  readonly amountMaximum?: number | undefined;
  /** How what has arrived differs from what was asked for. */
  readonly deviation?: Deviation | undefined;
  readonly text?: SearchText | undefined;
}

/** Texts and amounts of which a payment must match one. */
export interface SearchText {
  /** The whole reference, or the address in any case. */
  readonly whole: string;
  /** Part of the reference in any case; null for a text that is too short. */
  readonly part: string | null;
  /** The price in cents; null for a text that is no price. */
  readonly cents: number | null;
  /** The amount on chain as a decimal; null for a text that is no amount. */
  readonly tokens: string | null;
  /**
   * ID of the oldest payment of the whole reference that a page before has shown: it and newer ones are
   * left out.
   */
  readonly oldestShown?: string | undefined;
}

/**
 * Number of payments that one search looks at, so that it takes no longer for a merchant with millions of them: a page
 * takes 50 ms on a machine with two cores, and 80 ms if twice as many are looked at.
 */
export const SEARCH_WINDOW = 5_000;

interface FoundPayments {
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
  const looked = candidates(db, merchantId, search, after);
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
    where ${conditions(db, merchantId, search)}
    order by candidate.created_at desc, candidate.id desc limit ${limit}`;
  const [{ rows: payments }, { rows: ends }] = await Promise.all([
    found.execute(db),
    last.execute(db),
  ]);
  return { payments, end: ends[0]?.id ?? null };
}

/** The payments that are looked at, by their creation: `created_at` and `id`. */
function candidates(
  db: Connection,
  merchantId: string,
  { status, createdAfter, createdBefore, deviation }: PaymentSearch,
  after: string | undefined,
): RawBuilder<unknown> {
  const { and, eb, refTuple } = expressionBuilder<Looked, 'looked'>();
  const id = deviation === undefined ? 'id' : 'payment_id';
  const all = [eb('merchant_id', '=', merchantId)];
  if (deviation !== undefined) all.push(eb('kind', '=', deviation));
  else if (status !== undefined) all.push(eb('status', '=', status));
  if (createdAfter !== undefined) all.push(eb('created_at', '>', createdAfter));
  if (createdBefore !== undefined) all.push(eb('created_at', '<', createdBefore));
  if (after !== undefined) {
    all.push(eb(refTuple('created_at', id), '<', placeOf(db, merchantId, after)));
  }
  return deviation === undefined
    ? sql`select created_at, id from payments where ${and(all)}`
    : sql`
        select distinct on (created_at, payment_id) created_at, payment_id as id
        from deviating_deposits where ${and(all)} order by created_at desc, payment_id desc`;
}

/** Columns that `payments` and `deviating_deposits` are searched by. */
interface Looked {
  looked: Pick<Payment, 'id' | 'merchant_id' | 'status' | 'created_at'> &
    Pick<DeviatingDepositsTable, 'payment_id' | 'kind'>;
}

/** The place of a merchant's payment in the order of creation; null for one that is not the merchant's. */
function placeOf(db: Connection, merchantId: string, id: string) {
  const own = db.selectFrom('payments').where('id', '=', id).where('merchant_id', '=', merchantId);
  return own.select(['created_at', 'id']).$asTuple('created_at', 'id');
}

function conditions(
  db: Connection,
  merchantId: string,
  { status, blockchainId, amountMinimum, amountMaximum, deviation, text }: PaymentSearch,
): Expression<SqlBool> {
  const { and, eb, or, refTuple } = expressionBuilder<Tables, 'payments'>();
  const all: Expression<SqlBool>[] = [];
  if (status !== undefined) all.push(eb('payments.status', '=', status));
  if (blockchainId !== undefined) all.push(eb('payments.blockchain_id', '=', blockchainId));
  if (amountMinimum !== undefined) all.push(eb('payments.amount', '>=', amountMinimum));
  if (amountMaximum !== undefined) all.push(eb('payments.amount', '<=', amountMaximum));
  if (deviation !== undefined) all.push(deviates(deviation));
  if (text !== undefined) all.push(or(textMatches(text)));
  if (text?.oldestShown !== undefined) {
    const place = refTuple('payments.created_at', 'payments.id');
    const isKnown = and([
      eb('payments.customer_reference_id', '=', text.whole),
      eb(place, '>=', placeOf(db, merchantId, text.oldestShown)),
    ]);
    all.push(eb(isKnown, 'is not', true));
  }
  return and(all);
}

function textMatches({ whole, part, cents, tokens }: SearchText): Expression<SqlBool>[] {
  const { eb, fn, val } = expressionBuilder<Tables, 'payments'>();
  const any: Expression<SqlBool>[] = [
    eb('payments.customer_reference_id', '=', whole),
    eb(fn('lower', ['payments.address']), '=', fn('lower', [val(whole)])),
  ];
  if (part !== null) any.push(eb('payments.customer_reference_id', 'ilike', containing(part)));
  if (cents !== null) any.push(eb('payments.amount', '=', cents));
  if (tokens !== null) {
    any.push(sql`
      payments.token_amount = ${tokens}::numeric * power(10::numeric, payments.token_decimals)`);
  }
  return any;
}
