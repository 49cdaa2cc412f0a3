import type { Connection } from '../../database/connection.ts';
import { hasRow } from '../rows.ts';

/** An admin of a merchant, as a person who signs in. */
export interface MerchantAdmin {
  readonly personId: string;
  readonly email: string;
  /** Since when this person is an active admin of the merchant. */
  readonly standingSince: Date;
  /** Since when they sign in with the present factors. */
  readonly factorsSince: Date;
  /** When a link last gave them factors; null for never. */
  readonly recoveredAt: Date | null;
}

const adminsOf = (db: Connection, merchantId: string) =>
  db
    .selectFrom('merchant_users')
    .innerJoin('people', 'people.id', 'merchant_users.person_id')
    .where('merchant_users.merchant_id', '=', merchantId)
    .where('merchant_users.role', '=', 'admin')
    .where('merchant_users.status', '=', 'active');

/** Undefined for somebody who is not an active admin of the merchant. */
export function findMerchantAdmin(
  db: Connection,
  merchantId: string,
  personId: string,
): Promise<MerchantAdmin | undefined> {
  return adminsOf(db, merchantId)
    .select([
      'people.id as personId',
      'people.email',
      'merchant_users.standing_since as standingSince',
      'people.factors_since as factorsSince',
      'people.recovered_at as recoveredAt',
    ])
    .where('people.id', '=', personId)
    .executeTakeFirst();
}

/** Whether somebody else signs in as an active admin of the merchant. */
export function hasOtherAdmin(
  db: Connection,
  merchantId: string,
  personId: string,
): Promise<boolean> {
  return hasRow(adminsOf(db, merchantId).select('people.id').where('people.id', '!=', personId));
}
