import type { Merchant } from '../../database/account-tables.ts';
import type { Connection } from '../../database/connection.ts';
import { containing } from '../like-pattern.ts';
import { countRows } from '../rows.ts';

export interface PartnerMerchantFilters {
  /** Part of a name, email or ID, ignoring case. */
  readonly search?: string | undefined;
  /** Only merchants whose onboarding is pending. */
  readonly pendingOnly?: boolean | undefined;
  /** Without test merchants. */
  readonly liveOnly?: boolean | undefined;
}

/** Merchants currently assigned to the partner, newest first. */
export function listPartnerMerchants(
  db: Connection,
  partnerId: string,
  filters: PartnerMerchantFilters,
  { limit, offset }: { limit: number; offset: number },
): Promise<Merchant[]> {
  return assigned(db, partnerId, filters)
    .selectAll()
    .orderBy('created_at', 'desc')
    .orderBy('id', 'desc')
    .limit(limit)
    .offset(offset)
    .execute();
}

export async function countPartnerMerchants(
  db: Connection,
  partnerId: string,
  filters: PartnerMerchantFilters,
): Promise<number> {
  return countRows(assigned(db, partnerId, filters));
}

/** Undefined for a merchant that is not assigned to the partner, as for a missing one. */
export function findPartnerMerchant(
  db: Connection,
  partnerId: string,
  merchantId: string,
): Promise<Merchant | undefined> {
  return assigned(db, partnerId, {}).selectAll().where('id', '=', merchantId).executeTakeFirst();
}

/** Counts the partner's live merchants by onboarding status. */
export async function countByOnboarding(
  db: Connection,
  partnerId: string,
): Promise<{ total: number; approved: number; pending: number }> {
  const rows = await assigned(db, partnerId, { liveOnly: true })
    .select(({ fn }) => ['onboarding_status', fn.countAll<number>().as('count')])
    .groupBy('onboarding_status')
    .execute();
  const countOf = (status: string) =>
    rows.find(row => row.onboarding_status === status)?.count ?? 0;
  return {
    total: rows.reduce((sum, row) => sum + row.count, 0),
    approved: countOf('approved'),
    pending: countOf('pending'),
  };
}

/** Which of these merchants are test merchants. */
export async function findTestMerchants(
  db: Connection,
  merchantIds: readonly string[],
): Promise<Set<string>> {
  const rows = await db
    .selectFrom('merchants')
    .select('id')
    .where(({ eb, fn, val }) => eb('id', '=', fn.any(val([...merchantIds]))))
    .where('environment', '=', 'test')
    .execute();
  return new Set(rows.map(({ id }) => id));
}

/** IDs and names of the partner's merchants, in alphabetical order. */
export function listMerchantNames(
  db: Connection,
  partnerId: string,
  limit: number,
): Promise<{ id: string; name: string }[]> {
  return assigned(db, partnerId, {})
    .select(['id', 'name'])
    .orderBy('name')
    .orderBy('id')
    .limit(limit)
    .execute();
}

function assigned(db: Connection, partnerId: string, filters: PartnerMerchantFilters) {
  let query = db.selectFrom('merchants').where('partner_id', '=', partnerId);
  if (filters.pendingOnly === true) query = query.where('onboarding_status', '=', 'pending');
  if (filters.liveOnly === true) query = query.where('environment', '=', 'live');
  if (filters.search !== undefined) {
    const pattern = containing(filters.search);
    query = query.where(({ eb, or, cast }) =>
      or([
        eb('name', 'ilike', pattern),
        eb('email', 'ilike', pattern),
        eb(cast('id', 'text'), 'ilike', pattern),
      ]),
    );
  }
  return query;
}
