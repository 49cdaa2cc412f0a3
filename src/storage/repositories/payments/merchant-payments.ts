import { type RawBuilder, type SelectQueryBuilder, sql } from 'kysely';
import { batchOn } from '../../database/batch.ts';
import type { Connection } from '../../database/connection.ts';
import type { Payment, PaymentStatus } from '../../database/payment-tables.ts';
import { type Given, type Prepared, prepare } from '../../database/prepared.ts';
import type { Tables } from '../../database/tables.ts';
import type { PageCursor } from '../rows.ts';

export interface PaymentFilters {
  readonly status?: PaymentStatus | undefined;
  readonly customerReferenceId?: string | undefined;
  /** Strict bounds. */
  readonly createdAfter?: Date | undefined;
  readonly createdBefore?: Date | undefined;
}

/** Columns that the merchant API shows, besides instants. */
const SHOWN = [
  'payments.id',
  'payments.amount',
  'payments.commission_amount',
  'payments.commission_payer',
  'payments.settlement_model',
  'payments.status',
  'payments.session_status',
  'payments.blockchain_id',
  'payments.token_amount',
  'payments.token_decimals',
  'payments.transaction_hash',
  'payments.redirect_url',
  'payments.customer_reference_id',
  'payments.cancellation_reason',
  'payments.last_error_code',
  'payments.last_error_message',
] as const;

/** Instants as ISO 8601 text: reading rows is most of the cost of a list (see column-values.ts). */
const INSTANTS = [
  sql<string | null>`payments.paid_at at time zone 'UTC'`.as('paid_at'),
  sql<string>`payments.expires_at at time zone 'UTC'`.as('expires_at'),
  sql<string>`payments.created_at at time zone 'UTC'`.as('created_at'),
  sql<string | null>`payments.last_error_at at time zone 'UTC'`.as('last_error_at'),
] as const;

type WithoutTable<C> = C extends `payments.${infer Column}` ? Column : never;

/** The columns that the merchant API shows; instants may already be ISO 8601 text. */
export type ShownPayment = Pick<Payment, WithoutTable<(typeof SHOWN)[number]> & keyof Payment> & {
  readonly paid_at: Date | string | null;
  readonly expires_at: Date | string;
  readonly created_at: Date | string;
  readonly last_error_at: Date | string | null;
};

interface OwnPayment {
  readonly id: string;
  readonly merchantId: string;
}

interface Wanted {
  readonly ids: readonly string[];
  readonly merchantIds: readonly string[];
}

/**
 * Finds a payment by its ID in a form that only the primary key's index serves, with or without statistics of
 * the table: that index returns IDs in order, and a range, unlike an equality, needs the order. For an equality
 * any index that contains the ID looks as cheap while the table is empty, and the plan is kept while the table
 * grows.
 */
function byPrimaryKey<O>(
  query: SelectQueryBuilder<Tables, 'payments', O>,
  id: RawBuilder<string>,
): SelectQueryBuilder<Tables, 'payments', O> {
  return query
    .where(sql<boolean>`payments.id between ${id} and ${id}`)
    .orderBy('payments.id')
    .limit(sql.lit(1));
}

/** Reads a batch of payments, each by ID and merchant, with its position in the batch. */
const merchantPayments = prepare('merchant_payments', (db, given: Given<Wanted>) =>
  db
    .selectFrom(
      sql<{ id: string; merchant_id: string; place: number }>`
        unnest(${given('ids')}::uuid[], ${given('merchantIds')}::uuid[]) with ordinality`.as<'wanted'>(
        sql`wanted (id, merchant_id, place)`,
      ),
    )
    .innerJoinLateral(
      byPrimaryKey(
        db.selectFrom('payments').select(SHOWN).select(INSTANTS).select('payments.merchant_id'),
        sql.ref('wanted.id'),
      ).as('payments'),
      join => join.onRef('payments.merchant_id', '=', 'wanted.merchant_id'),
    )
    .select(SHOWN)
    .select([
      'payments.paid_at',
      'payments.expires_at',
      'payments.created_at',
      'payments.last_error_at',
    ])
    .select(sql<number>`wanted.place::integer`.as('place')),
);

/** Requests that read a payment in the same tick share a statement. */
const findBatched = batchOn(async (db: Connection, wanted: readonly OwnPayment[]) => {
  const rows = await merchantPayments(db, {
    ids: wanted.map(({ id }) => id),
    merchantIds: wanted.map(({ merchantId }) => merchantId),
  });
  const found = new Array<ShownPayment | undefined>(wanted.length);
  for (const row of rows) found[row.place - 1] = row;
  return found;
});

/** Undefined for another merchant's payment, as for a missing one. */
export function findMerchantPayment(
  db: Connection,
  merchantId: string,
  id: string,
): Promise<ShownPayment | undefined> {
  return findBatched(db, { id, merchantId });
}

type PageValues = PaymentFilters & {
  readonly merchantId: string;
  readonly cursorId: string | undefined;
  readonly limit: number;
};
type PageQuery = Prepared<PageValues, ShownPayment>;

/** Statements by combination of filters and direction, prepared on first use. */
const pages = new Map<string, PageQuery>();

/**
 * At most `limit` payments of a merchant, next to the cursor in its direction: newest first, but
 * oldest first for `newer`. Without a cursor, the newest payments. Empty unless
 * the cursor is a payment of the merchant.
 */
export function listMerchantPayments(
  db: Connection,
  merchantId: string,
  filters: PaymentFilters,
  cursor: PageCursor | undefined,
  limit: number,
): Promise<ShownPayment[]> {
  const page = merchantPaymentsPage(filters, cursor?.direction);
  return page(db, { ...filters, merchantId, cursorId: cursor?.id, limit });
}

/** The statement of a page; depends on which filters are given, not on their values. */
export function merchantPaymentsPage(
  filters: PaymentFilters,
  direction: PageCursor['direction'] | undefined,
): PageQuery {
  const shape = [
    'merchant_payments',
    direction ?? 'first',
    filters.status !== undefined && 'status',
    filters.customerReferenceId !== undefined && 'reference',
    filters.createdAfter !== undefined && 'after',
    filters.createdBefore !== undefined && 'before',
  ];
  const name = shape.filter(part => part !== false).join('_');
  let page = pages.get(name);
  if (page === undefined) {
    page = preparePage(name, filters, direction);
    pages.set(name, page);
  }
  return page;
}

function preparePage(
  name: string,
  filters: PaymentFilters,
  direction: PageCursor['direction'] | undefined,
): PageQuery {
  return prepare(name, (db, given: Given<PageValues>) => {
    const order = direction === 'newer' ? 'asc' : 'desc';
    const value = <K extends keyof PageValues & string>(key: K) =>
      given(key) as NonNullable<PageValues[K]>;
    let query = db
      .selectFrom('payments')
      .select(SHOWN)
      .select(INSTANTS)
      .where('merchant_id', '=', given('merchantId'));
    if (filters.status !== undefined) query = query.where('status', '=', value('status'));
    if (filters.customerReferenceId !== undefined) {
      query = query.where('customer_reference_id', '=', value('customerReferenceId'));
    }
    if (filters.createdAfter !== undefined) {
      query = query.where('created_at', '>', value('createdAfter'));
    }
    if (filters.createdBefore !== undefined) {
      query = query.where('created_at', '<', value('createdBefore'));
    }
    if (direction !== undefined) {
      const compare = sql.raw(direction === 'newer' ? '>' : '<');
      const cursor = byPrimaryKey(
        db.selectFrom('payments').select(['created_at', 'id', 'merchant_id']),
        sql`${given('cursorId')}::uuid`,
      );
      query = query.where(
        sql<boolean>`(created_at, id) ${compare} (
          select created_at, id from ${cursor.as('cursor')}
          where merchant_id = ${given('merchantId')})`,
      );
    }
    return query
      .orderBy('payments.created_at', order)
      .orderBy('payments.id', order)
      .limit(given('limit'));
  });
}
