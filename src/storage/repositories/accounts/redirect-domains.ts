import type { Connection } from '../../database/connection.ts';

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

/** @returns Whether the domain existed. */
export async function removeRedirectDomain(
  db: Connection,
  merchantId: string,
  domain: string,
): Promise<boolean> {
  const { numDeletedRows } = await db
    .deleteFrom('redirect_domains')
    .where('merchant_id', '=', merchantId)
    .where('domain', '=', domain)
    .executeTakeFirstOrThrow();
  return numDeletedRows > 0n;
}
