import type { Connection } from '../../database/connection.ts';
import { deleteWhere } from '../rows.ts';

/** The merchant's allowed redirect domains, in alphabetical order (at most 20). */
export async function listRedirectDomains(db: Connection, merchantId: string): Promise<string[]> {
  const rows = await db
    .selectFrom('redirect_domains')
    .select('domain')
    .where('merchant_id', '=', merchantId)
    .orderBy('domain')
    .execute();
  return rows.map(row => row.domain);
}

/** @returns Whether the domain is new. */
export async function insertRedirectDomain(
  db: Connection,
  row: { merchantId: string; domain: string; now: Date },
): Promise<boolean> {
  const { numInsertedOrUpdatedRows } = await db
    .insertInto('redirect_domains')
    .values({ merchant_id: row.merchantId, domain: row.domain, created_at: row.now })
    .onConflict(conflict => conflict.doNothing())
    .executeTakeFirstOrThrow();
  return (numInsertedOrUpdatedRows ?? 0n) > 0n;
}

export const removeRedirectDomain = deleteWhere('redirect_domains', 'merchant_id', 'domain');
