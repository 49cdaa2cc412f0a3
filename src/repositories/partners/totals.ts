import { expressionBuilder } from 'kysely';
import type { Connection } from '../../database/connection.ts';
import type { PaymentStatus } from '../../database/payment-tables.ts';
import type { Tables } from '../../database/tables.ts';
import { containing } from '../like-pattern.ts';

/**
 * Queries of a partner's rollups for lists and what they are filtered by. Each one adds the unfolded deltas in the
 * same statement, so the result is exact at any moment. None reads payments.
 */

/** All given filters must match. */
export interface TotalsFilter {
  readonly status?: PaymentStatus | undefined;
  readonly blockchainId?: string | undefined;
  /** Any of these merchants. */
  readonly merchantIds?: readonly string[] | undefined;
  /** Any of these deposit addresses. */
  readonly addresses?: readonly string[] | undefined;
}

/** Merchants and deposit addresses that match a search term; a payment needs one of either. */
export interface Reach {
  readonly merchantIds: readonly string[];
  readonly addresses: readonly string[];
}

const { cast, eb, fn, val } = expressionBuilder<Tables, 'partner_deltas'>();

/** A sum of bigint is numeric, which the driver returns as text. */
export const sumOfPayments = cast<number>(fn.sum('payments'), 'bigint').as('payments');

/** Counts the payments that match the filter and, if given, the reach. */
export async function countPartnerPayments(
  db: Connection,
  partnerId: string,
  filter: TotalsFilter = {},
  reach?: Reach,
): Promise<number> {
  const { status, blockchainId, merchantIds, addresses } = filter;
  let query = db.selectFrom(totals(db, partnerId).as('t')).select(sumOfPayments);
  if (status !== undefined) query = query.where('status', '=', status);
  if (blockchainId !== undefined) query = query.where('blockchain_id', '=', blockchainId);
  if (merchantIds !== undefined) query = query.where(isAny('merchant_id', merchantIds));
  if (addresses !== undefined) query = query.where(isAny('address', addresses));
  if (reach !== undefined) {
    query = query.where(({ or }) =>
      or([isAny('merchant_id', reach.merchantIds), isAny('address', reach.addresses)]),
    );
  }
  // The sum of no rows is null.
  const { payments } = await query.$castTo<{ payments: number | null }>().executeTakeFirstOrThrow();
  return payments ?? 0;
}

/** Number of payments by the UTC day of their creation, newest first. */
export function countByCreatedDay(
  db: Connection,
  partnerId: string,
): Promise<{ day: string; payments: number }[]> {
  const deltas = db.selectFrom('partner_deltas').select(['created_day as day', 'payments']);
  const days = db
    .selectFrom('partner_created_days')
    .select(['day', 'payments'])
    .where('partner_id', '=', partnerId)
    .unionAll(deltas.where('partner_id', '=', partnerId));
  return db
    .selectFrom(days.as('t'))
    .select(['day', sumOfPayments])
    .groupBy('day')
    .orderBy('day', 'desc')
    .execute();
}

/** Networks of the partner's payments, in alphabetical order (at most 24). */
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

/** IDs of merchants in the partner's history whose name or ID contains the text, ignoring case. */
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

/** Deposit addresses of the partner's payments that contain the text, ignoring case. */
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

export function isAny(column: 'merchant_id' | 'address', values: readonly string[]) {
  return eb(column, '=', fn.any(val([...values])));
}

/** Folded and unfolded rows. */
export function totals(db: Connection, partnerId: string) {
  const columns = [
    'merchant_id',
    'status',
    'blockchain_id',
    'address',
    'payments',
    'cents',
  ] as const;
  const deltas = db.selectFrom('partner_deltas').select(columns);
  return db
    .selectFrom('partner_totals')
    .select(columns)
    .where('partner_id', '=', partnerId)
    .unionAll(deltas.where('partner_id', '=', partnerId));
}
