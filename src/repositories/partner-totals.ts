import type { Connection } from '../database/connection.ts';
import type { PaymentStatus } from '../database/tables.ts';
import { containing } from './like-pattern.ts';

/**
 * Reads of a partner's rollups. Each adds the rows not folded yet in the same statement, which is
 * what makes it exact at any moment; none looks at a payment.
 */

/** Everything that is given has to hold; the lists are alternatives. */
export interface TotalsFilter {
  readonly status?: PaymentStatus | undefined;
  readonly blockchainId?: string | undefined;
  readonly merchantIds?: readonly string[] | undefined;
  readonly addresses?: readonly string[] | undefined;
}

/** Merchants and deposit addresses that a search term reaches; either one suffices. */
export interface Reach {
  readonly merchantIds: readonly string[];
  readonly addresses: readonly string[];
}

export interface Sum {
  payments: number;
  /** USD cents. */
  cents: number;
}

/** How many payments match, and when a reach is given, lie within it as well. */
export async function countPartnerPayments(
  db: Connection,
  partnerId: string,
  filter: TotalsFilter = {},
  reach?: Reach,
): Promise<number> {
  let query = db
    .selectFrom(totals(db, partnerId).as('t'))
    .select(({ fn }) => fn.sum<string>('payments').as('payments'));
  if (filter.status !== undefined) query = query.where('status', '=', filter.status);
  if (filter.blockchainId !== undefined) {
    query = query.where('blockchain_id', '=', filter.blockchainId);
  }
  if (filter.merchantIds !== undefined) {
    const { merchantIds } = filter;
    query = query.where(({ eb, fn, val }) => eb('merchant_id', '=', fn.any(val([...merchantIds]))));
  }
  if (filter.addresses !== undefined) {
    const { addresses } = filter;
    query = query.where(({ eb, fn, val }) => eb('address', '=', fn.any(val([...addresses]))));
  }
  if (reach !== undefined) {
    query = query.where(({ eb, or, fn, val }) =>
      or([
        eb('merchant_id', '=', fn.any(val([...reach.merchantIds]))),
        eb('address', '=', fn.any(val([...reach.addresses]))),
      ]),
    );
  }
  const { payments } = await query.executeTakeFirstOrThrow();
  return Number(payments ?? 0);
}

/** Payments of every status of some merchants, or of all. */
export async function sumByMerchantAndStatus(
  db: Connection,
  partnerId: string,
  merchantIds?: readonly string[],
): Promise<(Sum & { merchantId: string; status: PaymentStatus })[]> {
  let query = db.selectFrom(totals(db, partnerId).as('t'));
  if (merchantIds !== undefined) {
    query = query.where(({ eb, fn, val }) => eb('merchant_id', '=', fn.any(val([...merchantIds]))));
  }
  const rows = await query
    .select(({ fn }) => [
      'merchant_id as merchantId',
      'status',
      fn.sum<string>('payments').as('payments'),
      fn.sum<string>('cents').as('cents'),
    ])
    .groupBy(['merchant_id', 'status'])
    .execute();
  return rows.map(row => ({ ...row, payments: Number(row.payments), cents: Number(row.cents) }));
}

/** Payments of every status of the partner. */
export async function sumByStatus(
  db: Connection,
  partnerId: string,
): Promise<(Sum & { status: PaymentStatus })[]> {
  const rows = await db
    .selectFrom(totals(db, partnerId).as('t'))
    .select(({ fn }) => [
      'status',
      fn.sum<string>('payments').as('payments'),
      fn.sum<string>('cents').as('cents'),
    ])
    .groupBy('status')
    .execute();
  return rows.map(row => ({ ...row, payments: Number(row.payments), cents: Number(row.cents) }));
}

/** Successful payments by the UTC day they were paid on, from `fromDay` (YYYY-MM-DD) on. */
export async function sumByPaidDay(
  db: Connection,
  partnerId: string,
  fromDay: string,
): Promise<(Sum & { day: string })[]> {
  const rows = await db
    .selectFrom(paidDays(db, partnerId, fromDay).as('t'))
    .select(({ fn }) => [
      'day',
      fn.sum<string>('payments').as('payments'),
      fn.sum<string>('cents').as('cents'),
    ])
    .groupBy('day')
    .orderBy('day')
    .execute();
  return rows.map(row => ({ ...row, payments: Number(row.payments), cents: Number(row.cents) }));
}

/** Cents of each merchant's successful payments paid on `fromDay` (YYYY-MM-DD) or later. */
export async function paidCentsByMerchant(
  db: Connection,
  partnerId: string,
  fromDay: string,
  merchantIds: readonly string[],
): Promise<Map<string, number>> {
  const rows = await db
    .selectFrom(paidDays(db, partnerId, fromDay).as('t'))
    .select(({ fn }) => ['merchant_id as merchantId', fn.sum<string>('cents').as('cents')])
    .where(({ eb, fn, val }) => eb('merchant_id', '=', fn.any(val([...merchantIds]))))
    .groupBy('merchant_id')
    .execute();
  return new Map(rows.map(row => [row.merchantId, Number(row.cents)]));
}

/** Payments by the UTC day they were created on, newest first: a row for each day of the history. */
export async function countByCreatedDay(
  db: Connection,
  partnerId: string,
): Promise<{ day: string; payments: number }[]> {
  const days = db
    .selectFrom('partner_created_days')
    .select(['day', 'payments'])
    .where('partner_id', '=', partnerId)
    .unionAll(
      db
        .selectFrom('partner_deltas')
        .select(['created_day as day', 'payments'])
        .where('partner_id', '=', partnerId),
    );
  const rows = await db
    .selectFrom(days.as('t'))
    .select(({ fn }) => ['day', fn.sum<string>('payments').as('payments')])
    .groupBy('day')
    .orderBy('day', 'desc')
    .execute();
  return rows.map(row => ({ day: row.day, payments: Number(row.payments) }));
}

/** Networks that payments of the partner have now, in alphabetical order (at most 24). */
export async function listHistoryNetworks(db: Connection, partnerId: string): Promise<string[]> {
  const rows = await db
    .selectFrom(totals(db, partnerId).as('t'))
    .select('blockchain_id')
    .where('blockchain_id', '<>', '')
    .groupBy('blockchain_id')
    .having(({ fn }) => fn.sum('payments'), '>', 0)
    .orderBy('blockchain_id')
    .execute();
  return rows.map(row => row.blockchain_id);
}

/** Merchants with payments of the partner whose name or ID contains the text, case ignored. */
export async function findHistoryMerchants(
  db: Connection,
  partnerId: string,
  text: { name: string; id?: string },
): Promise<string[]> {
  const { name, id } = text;
  const rows = await db
    .selectFrom('merchants')
    .select('merchants.id')
    .where('merchants.id', 'in', db.selectFrom(totals(db, partnerId).as('t')).select('merchant_id'))
    .where(({ eb, or, cast }) =>
      or([
        eb('merchants.name', 'ilike', containing(name)),
        ...(id === undefined ? [] : [eb(cast('merchants.id', 'text'), 'ilike', containing(id))]),
      ]),
    )
    .execute();
  return rows.map(row => row.id);
}

/** Deposit addresses of the partner's payments that contain the text, case ignored. */
export async function findHistoryAddresses(
  db: Connection,
  partnerId: string,
  text: string,
): Promise<string[]> {
  const rows = await db
    .selectFrom(totals(db, partnerId).as('t'))
    .select('address')
    .distinct()
    .where('address', '<>', '')
    .where('address', 'ilike', containing(text))
    .execute();
  return rows.map(row => row.address);
}

function totals(db: Connection, partnerId: string) {
  return db
    .selectFrom('partner_totals')
    .select(['merchant_id', 'status', 'blockchain_id', 'address', 'payments', 'cents'])
    .where('partner_id', '=', partnerId)
    .unionAll(
      db
        .selectFrom('partner_deltas')
        .select(['merchant_id', 'status', 'blockchain_id', 'address', 'payments', 'cents'])
        .where('partner_id', '=', partnerId),
    );
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
