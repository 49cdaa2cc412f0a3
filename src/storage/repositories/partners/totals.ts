import { expressionBuilder, type RawBuilder, sql } from 'kysely';
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

/** Counts the payments that match the filter. */
export async function countPartnerPayments(
  db: Connection,
  partnerId: string,
  filter: TotalsFilter,
): Promise<number> {
  // The sum of no rows is null.
  const { payments } = await sumPartnerPayments(db, partnerId, filter)
    .$castTo<{ payments: number | null }>()
    .executeTakeFirstOrThrow();
  return payments ?? 0;
}

/** The sum of payments that match the filter and, if given, the reach; null for none. */
export function sumPartnerPayments(
  db: Connection,
  partnerId: string,
  filter: TotalsFilter,
  reach?: Reach,
) {
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
  return query;
}

/** Payments by the UTC day of their creation: folded and unfolded rows. */
function createdDays(db: Connection, partnerId: string) {
  const deltas = db.selectFrom('partner_deltas').select(['created_day as day', 'payments']);
  const days = db
    .selectFrom('partner_created_days')
    .select(['day', 'payments'])
    .where('partner_id', '=', partnerId)
    .unionAll(deltas.where('partner_id', '=', partnerId));
  return db.selectFrom(days.as('t'));
}

/** The sum of payments that were created on the UTC days of the bounds or between; null for none. */
export function sumCreatedPayments(
  db: Connection,
  partnerId: string,
  { createdFrom, createdTo }: { createdFrom?: Date | undefined; createdTo?: Date | undefined },
) {
  let query = createdDays(db, partnerId).select(sumOfPayments);
  const dayOf = (time: Date) => sql<string>`(${time}::timestamptz at time zone 'UTC')::date`;
  if (createdFrom !== undefined) query = query.where('day', '>=', dayOf(createdFrom));
  if (createdTo !== undefined) query = query.where('day', '<=', dayOf(createdTo));
  return query;
}

/** Number of payments by the UTC day of their creation, newest first. */
export function countByCreatedDay(
  db: Connection,
  partnerId: string,
): Promise<{ day: string; payments: number }[]> {
  return createdDays(db, partnerId)
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

/** Parts of texts that merchants and addresses of a partner's history are looked up by, ignoring case. */
interface HistoryTexts {
  readonly merchantName?: string | undefined;
  readonly address?: string | undefined;
  /** Part of a merchant's name or ID, or of an address. */
  readonly search?: string | undefined;
}

/** What each text has found; undefined for those that were not given. */
interface HistoryMatches {
  readonly merchantIds?: readonly string[] | undefined;
  readonly addresses?: readonly string[] | undefined;
  readonly reach?: Reach | undefined;
}

/** Looks up the merchants and deposit addresses in the partner's history that match the texts, in one statement. */
export async function findHistoryMatches(
  db: Connection,
  partnerId: string,
  { merchantName, address, search }: HistoryTexts,
): Promise<HistoryMatches> {
  if ([merchantName, address, search].every(text => text === undefined)) return {};
  const merchants = (text: string | undefined, columns: readonly string[]) =>
    found('id', text, pattern => {
      const matches = columns.map(column => sql`${sql.ref(column)}::text ilike ${pattern}`);
      return sql`merchants
        where id in (select merchant_id from history) and (${sql.join(matches, sql` or `)})`;
    });
  const addresses = (text: string | undefined) =>
    found(
      'address',
      text,
      pattern => sql`history where address <> '' and address ilike ${pattern}`,
    );
  const { rows } = await sql<Record<'named' | 'at' | 'meant' | 'meantAt', string[] | null>>`
    with history as (select distinct merchant_id, address from ${totals(db, partnerId)} as t)
    select ${merchants(merchantName, ['name'])} as named, ${addresses(address)} as at,
           ${merchants(search, ['name', 'id'])} as meant, ${addresses(search)} as "meantAt"`.execute(
    db,
  );
  const { named, at, meant, meantAt } = rows[0] ?? {};
  return {
    merchantIds: named ?? undefined,
    addresses: at ?? undefined,
    reach: meant && meantAt ? { merchantIds: meant, addresses: meantAt } : undefined,
  };
}

/** The distinct values of a column where a text occurs, as an array; null without a text. */
function found(
  column: string,
  text: string | undefined,
  where: (pattern: string) => RawBuilder<unknown>,
): RawBuilder<unknown> {
  if (text === undefined) return sql`null`;
  return sql`array(select distinct ${sql.ref(column)} from ${where(containing(text))})`;
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
