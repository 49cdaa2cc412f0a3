import type { Merchant, Partner } from '../../database/account-tables.ts';
import type { Connection } from '../../database/connection.ts';
import { containing } from '../like-pattern.ts';
import { countRows } from '../rows.ts';
import { commissions } from './figures.ts';

interface PartnerMerchantFilters {
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

/** How many active merchants of the partner have a key that works, of v1 or of the older contract. */
export async function countMerchantsWithKeys(
  db: Connection,
  partnerId: string,
  now: Date,
): Promise<number> {
  return countRows(
    assigned(db, partnerId, {})
      .where('status', '=', 'active')
      .where(({ exists, or, selectFrom }) =>
        or([
          exists(
            selectFrom('api_keys')
              .select('api_keys.id')
              .whereRef('api_keys.merchant_id', '=', 'merchants.id')
              .where('revoked_at', 'is', null)
              .where(({ eb }) => eb.or([eb('expires_at', 'is', null), eb('expires_at', '>', now)])),
          ),
          exists(
            selectFrom('merchant_users as user')
              .select('user.id')
              .whereRef('user.merchant_id', '=', 'merchants.id')
              .where('user.status', '=', 'active')
              .where('user.role', '=', 'admin')
              .where('user.client_id', 'is not', null),
          ),
        ]),
      ),
  );
}

/** Undefined for a merchant that is not assigned to the partner, as for a missing one. */
export function findPartnerMerchant(
  db: Connection,
  partnerId: string,
  merchantId: string,
): Promise<Merchant | undefined> {
  return assigned(db, partnerId, {}).selectAll().where('id', '=', merchantId).executeTakeFirst();
}

/** A partner with its live merchants, counted by their onboarding, and the commission on their payments. */
interface PartnerWithFigures extends Partner {
  readonly merchants: number;
  readonly approved: number;
  readonly pending: number;
  /** null without any. */
  readonly commission_cents: number | null;
}

/** Reads all in one statement; undefined for an unknown partner. */
export function findPartnerWithFigures(
  db: Connection,
  partnerId: string,
): Promise<PartnerWithFigures | undefined> {
  const counted = assigned(db, partnerId, { liveOnly: true }).select(({ fn }) => [
    fn.countAll<number>().as('merchants'),
    fn.countAll<number>().filterWhere('onboarding_status', '=', 'approved').as('approved'),
    fn.countAll<number>().filterWhere('onboarding_status', '=', 'pending').as('pending'),
  ]);
  return db
    .selectFrom('partners')
    .innerJoin(counted.as('counted'), join => join.onTrue())
    .selectAll()
    .select(commissions(db, partnerId).as('commission_cents'))
    .where('partners.id', '=', partnerId)
    .executeTakeFirst();
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
