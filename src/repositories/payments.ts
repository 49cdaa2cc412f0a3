import { sql } from 'kysely';
import { batchOn } from '../database/batch.ts';
import type { Connection } from '../database/connection.ts';
import { type Given, type Prepared, prepare } from '../database/prepared.ts';
import type { Payment, PaymentStatus } from '../database/tables.ts';

export interface PaymentFilters {
  readonly status?: PaymentStatus | undefined;
  readonly customerReferenceId?: string | undefined;
  /** Strict bounds. */
  readonly createdAfter?: Date | undefined;
  readonly createdBefore?: Date | undefined;
}

/** Which way from a payment of the merchant's a page extends; that payment itself is left out. */
export interface PageCursor {
  readonly direction: 'older' | 'newer';
  readonly id: string;
}

/** What the merchant API shows of a payment, besides instants. */
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

/** Instants as they are shown: most of what a list costs is reading its rows (column-values.ts). */
const INSTANTS = [
  sql<string | null>`payments.paid_at at time zone 'UTC'`.as('paid_at'),
  sql<string>`payments.expires_at at time zone 'UTC'`.as('expires_at'),
  sql<string>`payments.created_at at time zone 'UTC'`.as('created_at'),
  sql<string | null>`payments.last_error_at at time zone 'UTC'`.as('last_error_at'),
] as const;

type WithoutTable<C> = C extends `payments.${infer Column}` ? Column : never;

/** What the merchant API shows of a payment; instants may be text in ISO 8601 already. */
export type ShownPayment = Pick<Payment, WithoutTable<(typeof SHOWN)[number]> & keyof Payment> & {
  readonly paid_at: Date | string | null;
  readonly expires_at: Date | string;
  readonly created_at: Date | string;
  readonly last_error_at: Date | string | null;
};

/** Any payment, for operators and the checkout. */
export function findPayment(db: Connection, id: string): Promise<Payment | undefined> {
  return db.selectFrom('payments').selectAll().where('id', '=', id).executeTakeFirst();
}

/** The payment whose checkout link carries the token of this SHA-256. */
export function findPaymentByCheckoutToken(
  db: Connection,
  tokenHash: Buffer,
): Promise<Payment | undefined> {
  return db
    .selectFrom('payments')
    .selectAll()
    .where('checkout_token_hash', '=', tokenHash)
    .executeTakeFirst();
}

interface OwnPayment {
  readonly id: string;
  readonly merchantId: string;
}

interface Wanted {
  readonly ids: readonly string[];
  readonly merchantIds: readonly string[];
}

/** Payments by their IDs, each of a merchant of its own, with the places they were asked in. */
export const merchantPayments = prepare('merchant_payments', (db, given: Given<Wanted>) =>
  db
    .selectFrom(
      sql<{ id: string; merchant_id: string; place: number }>`
        unnest(${given('ids')}::uuid[], ${given('merchantIds')}::uuid[]) with ordinality`.as<'wanted'>(
        sql`wanted (id, merchant_id, place)`,
      ),
    )
    .innerJoin('payments', join =>
      join
        .onRef('payments.id', '=', 'wanted.id')
        .onRef('payments.merchant_id', '=', 'wanted.merchant_id'),
    )
    .select(SHOWN)
    .select(INSTANTS)
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

/** A merchant's own payment; another merchant's is undefined like a missing one. */
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

/** A statement for each combination of filters and direction, made when it is first asked for. */
const pages = new Map<string, PageQuery>();

/**
 * At most `limit` payments of a merchant: the nearest ones to the cursor in its direction, which for
 * `newer` means oldest first. Without a cursor the newest come first. A cursor that is not the
 * merchant's has none.
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

/** The statement of a page; of the filters only which there are matters. */
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
      query = query.where(
        sql<boolean>`(created_at, id) ${compare} (
          select created_at, id from payments
          where id = ${given('cursorId')} and merchant_id = ${given('merchantId')})`,
      );
    }
    return query
      .orderBy('payments.created_at', order)
      .orderBy('payments.id', order)
      .limit(given('limit'));
  });
}
