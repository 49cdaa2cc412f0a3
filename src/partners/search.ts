import type { Connection } from '../database/connection.ts';
import type { Term } from '../repositories/partners/payment-filters.ts';
import { findHistoryAddresses, findHistoryMerchants } from '../repositories/partners/totals.ts';

/**
 * Resolves a search term. Merchants and addresses are few, so those that contain the term are
 * looked up here; the payment's own text is matched row by row.
 */
export async function resolveSearch(
  db: Connection,
  partnerId: string,
  text: string,
): Promise<Term> {
  const [merchantIds, addresses] = await Promise.all([
    findHistoryMerchants(db, partnerId, { name: text, id: text }),
    findHistoryAddresses(db, partnerId, text),
  ]);
  return { text, reach: { merchantIds, addresses } };
}
