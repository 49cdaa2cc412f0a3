import { type Expression, expressionBuilder, type RawBuilder, type SqlBool, sql } from 'kysely';
import type { Connection } from '../../database/connection.ts';
import type { Deposit, DepositOutcome } from '../../database/deposit-tables.ts';
import type { Tables } from '../../database/tables.ts';
import { IS_WAITING } from './deposits.ts';

const eb = expressionBuilder<Tables, 'deposits'>();

/** Which of a merchant's deposits are listed. All given filters must match. */
export interface InboxFilters {
  readonly outcome?: DepositOutcome | undefined;
  readonly blockchainId?: string | undefined;
  /** Highest value in cents; those whose value is not known do not match. */
  readonly valueMaximum?: number | undefined;
}

/**
 * Whether a merchant alone had an address in a period, a row of `account_addresses` as `own`. Not as `not exists`,
 * for which PostgreSQL may read everybody's addresses.
 */
export const IS_OWN = sql<SqlBool>`
  (select other.merchant_id from account_addresses as other
   where other.blockchain_id = own.blockchain_id and other.address = own.address
     and other.merchant_id <> own.merchant_id
     and other.since < own.until and own.since < other.until limit 1) is null`;

/** Whether a deposit arrived in a period, a row of `account_addresses` as `own`. */
export const IS_IN_PERIOD = sql<SqlBool>`
  (own.since <= deposits.observed_at and deposits.observed_at < own.until)`;

/** An unknown value counts as the highest. */
const UNKNOWN = '9223372036854775807';

/** Written as in the index of the inbox. */
const VALUE = sql<number>`coalesce(value_cents, ${sql.raw(UNKNOWN)})`;

/**
 * At most `limit` waiting deposits of each period in which a merchant had an address, as `deposits`, those of the
 * highest value first.
 */
function ofEachAddress(
  merchantId: string,
  which: Expression<SqlBool>,
  limit: number,
  condition: Expression<SqlBool> = eb.lit(true),
): RawBuilder<unknown> {
  return sql`
    from account_addresses as own cross join lateral (
      select * from deposits
      where blockchain_id = own.blockchain_id and address = own.address and ${IS_WAITING}
        and ${IS_IN_PERIOD} and ${condition}
      order by ${VALUE} desc, id desc limit ${limit}
    ) as deposits
    where own.merchant_id = ${merchantId} and own.may_wait and ${which}`;
}

/**
 * A merchant's deposits that no payment took and that are not settled, the most valuable first, and before
 * those the ones whose value is not known yet. Only those at addresses that no other merchant had at the time.
 * @param after The last one of the page before: its ID, or the deposit as it was read there. A deposit that was valued
 * since then has moved; with its ID alone, those between its two places would be left out.
 */
export async function listOwnUnmatched(
  db: Connection,
  merchantId: string,
  filters: InboxFilters,
  {
    after,
    limit,
  }: { after: string | Pick<Deposit, 'id' | 'value_cents'> | undefined; limit: number },
): Promise<Deposit[]> {
  const { outcome, blockchainId, valueMaximum } = filters;
  const all: Expression<SqlBool>[] = [];
  if (outcome !== undefined) all.push(eb('outcome', '=', outcome));
  if (blockchainId !== undefined) all.push(eb('blockchain_id', '=', blockchainId));
  if (valueMaximum !== undefined) all.push(eb(VALUE, '<=', valueMaximum));
  if (after !== undefined) {
    const place =
      typeof after === 'string'
        ? sql`(select ${VALUE}, id from deposits where id = ${after})`
        : sql`(${after.value_cents ?? UNKNOWN}::bigint, ${after.id}::uuid)`;
    all.push(sql`(${VALUE}, id) < ${place}`);
  }
  const { rows } = await sql<Deposit>`
    select deposits.* ${ofEachAddress(merchantId, IS_OWN, limit, eb.and(all))}
    order by ${VALUE} desc, deposits.id desc limit ${limit}`.execute(db);
  return rows;
}

/** A deposit at an address that this merchant alone had, whether it waits or not. */
export async function findOwnDeposit(
  db: Connection,
  merchantId: string,
  id: string,
): Promise<Deposit | undefined> {
  const [deposit] = await findOwn(db, merchantId, [id], sql`true`);
  return deposit;
}

/** Those of the deposits that wait and are the merchant's. */
export function findOwnUnmatchedOf(
  db: Connection,
  merchantId: string,
  ids: readonly string[],
): Promise<Deposit[]> {
  return findOwn(db, merchantId, ids, IS_WAITING);
}

async function findOwn(
  db: Connection,
  merchantId: string,
  ids: readonly string[],
  condition: RawBuilder<unknown>,
): Promise<Deposit[]> {
  const { rows } = await sql<Deposit>`
    select deposits.* from deposits
    join account_addresses as own
      on own.blockchain_id = deposits.blockchain_id and own.address = deposits.address
    where deposits.id = any(${ids}::uuid[]) and ${condition}
      and own.merchant_id = ${merchantId} and ${IS_IN_PERIOD} and ${IS_OWN}`.execute(db);
  return rows;
}

/** What waits in a merchant's inbox. */
export interface UnmatchedFigures {
  /** How many, counted up to a maximum. */
  readonly deposits: number;
  /** When the newest of them arrived: ISO 8601, as in JSON; null without any. */
  readonly newest: string | null;
}

/** What waits, of at most `maximum` deposits: an expression for a statement. */
export function ownUnmatched(merchantId: string, maximum: number): RawBuilder<UnmatchedFigures> {
  return sql`(
    select json_build_object('deposits', count(*), 'newest', max(observed_at)) from (
      select observed_at ${ofEachAddress(merchantId, IS_OWN, maximum)} limit ${maximum}
    ) as found)`;
}

/** How many wait at addresses that another merchant had as well when they arrived; counted up to `maximum`. */
export async function countSharedUnmatched(
  db: Connection,
  merchantId: string,
  maximum: number,
): Promise<number> {
  const { rows } = await sql<{ count: number }>`
    select count(*)::integer as count from (
      select ${ofEachAddress(merchantId, eb.not(IS_OWN), maximum)} limit ${maximum}
    ) as found`.execute(db);
  return rows[0]?.count ?? 0;
}

/** How many deposits that arrived in a period wait, of each merchant that has any, at most `limit` merchants. */
export async function countUnmatchedOf(
  db: Connection,
  { since, until, limit }: { readonly since: Date; readonly until: Date; readonly limit: number },
): Promise<{ merchantId: string; deposits: number }[]> {
  const { rows } = await sql<{ merchantId: string; deposits: number }>`
    select own.merchant_id as "merchantId", count(*)::integer as deposits
    from deposits join account_addresses as own
      on own.blockchain_id = deposits.blockchain_id and own.address = deposits.address
    where ${IS_WAITING} and observed_at >= ${since} and observed_at < ${until}
      and ${IS_IN_PERIOD} and ${IS_OWN}
    group by own.merchant_id
    order by own.merchant_id limit ${limit}`.execute(db);
  return rows;
}
