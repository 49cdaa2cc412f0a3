import type { Connection } from '../database/connection.ts';
import type { TextMatch } from '../repositories/partner-payment-filters.ts';
import { isWholeText } from '../repositories/partner-payments.ts';
import {
  findHistoryAddresses,
  findHistoryMerchants,
  type Reach,
} from '../repositories/partner-totals.ts';

/**
 * From this length on, in characters, a term that is the whole of an ID, hash, address or reference
 * is taken for it: found by equality, and references that begin with it as well. A shorter one may
 * well be part of others, as `order-1` is of `order-10`, and is always searched as a part.
 */
export const WHOLE_TEXT_MINIMUM = 16;

/**
 * What a search term stands for. Merchants and addresses are few, so a part of one is resolved to
 * them; the payment's own text is matched row by row.
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
