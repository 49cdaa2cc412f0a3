import type { Insertable } from 'kysely';
import type { MerchantLogosTable } from '../../database/account-tables.ts';
import type { Connection } from '../../database/connection.ts';
import { deleteBy } from '../rows.ts';

/** The hash under which a merchant's logo is served; null for none. */
export async function findLogoHash(db: Connection, merchantId: string): Promise<string | null> {
  const row = await db
    .selectFrom('merchant_logos')
    .select('hash')
    .where('merchant_id', '=', merchantId)
    .executeTakeFirst();
  return row?.hash ?? null;
}

/** A merchant's logo; undefined for none. */
export function findMerchantLogo(
  db: Connection,
  merchantId: string,
): Promise<Pick<MerchantLogosTable, 'type' | 'content'> | undefined> {
  return db
    .selectFrom('merchant_logos')
    .select(['type', 'content'])
    .where('merchant_id', '=', merchantId)
    .executeTakeFirst();
}

/** The image with a hash; several merchants may have it. */
export function findLogo(
  db: Connection,
  hash: string,
): Promise<Pick<MerchantLogosTable, 'type' | 'content'> | undefined> {
  return db
    .selectFrom('merchant_logos')
    .select(['type', 'content'])
    .where('hash', '=', hash)
    .limit(1)
    .executeTakeFirst();
}

export async function replaceLogo(
  db: Connection,
  row: Insertable<MerchantLogosTable>,
): Promise<void> {
  await db
    .insertInto('merchant_logos')
    .values(row)
    .onConflict(conflict => conflict.column('merchant_id').doUpdateSet(row))
    .execute();
}

export const removeLogo = deleteBy('merchant_logos', 'merchant_id');
