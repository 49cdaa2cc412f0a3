import type { Connection } from '../database/connection.ts';
import type { TextMatch } from '../repositories/partner-payment-filters.ts';
import { isWholeText } from '../repositories/partner-payments.ts';
import {
  findHistoryAddresses,
  findHistoryMerchants,
  type Reach,
} from '../repositories/partner-totals.ts';

/**
 * Minimum length, in characters, of a term that matches whole values. A term that equals an
 * existing ID, hash, address or reference then matches by equality, and references also by prefix.
 * Shorter terms always match as fragments, because they are often part of others: `order-1` of
 * `order-10`.
 */
export const WHOLE_TEXT_MINIMUM = 16;

/**
 * Resolves a search term. Merchants and addresses are few, so those that contain the term are
 * looked up here; the payment's own text is matched row by row.
 */
export async function resolveSearch(
  db: Connection,
  partnerId: string,
  text: string,
): Promise<{ reach: Reach; match: TextMatch }> {
  const [merchantIds, addresses, whole] = await Promise.all([
    findHistoryMerchants(db, partnerId, { name: text, id: text }),
    findHistoryAddresses(db, partnerId, text),
    text.length >= WHOLE_TEXT_MINIMUM ? isWholeText(db, partnerId, text) : false,
  ]);
  const lower = text.toLowerCase();
  const isAccount =
    text.length >= WHOLE_TEXT_MINIMUM &&
    (merchantIds.includes(lower) || addresses.some(address => address.toLowerCase() === lower));
  return {
    reach: { merchantIds, addresses },
    match: { kind: whole || isAccount ? 'whole' : 'fragment', text },
  };
}
