import { type Expression, expressionBuilder, type SqlBool } from 'kysely';
import { UUID } from '#schemas/uuid.ts';
import type { PaymentStatus } from '../../database/payment-tables.ts';
import type { Tables } from '../../database/tables.ts';
import { containing } from '../like-pattern.ts';
import type { Reach } from './totals.ts';

/** A search term: part of the payment's own text, of its merchant's name or ID, or of its address. */
export interface Term {
  readonly text: string;
  /** The merchants and addresses that contain the text. */
  readonly reach: Reach;
}

/** All given filters must match. */
export interface PartnerPaymentFilters {
  readonly status?: PaymentStatus | undefined;
  readonly blockchainId?: string | undefined;
  /** One of these merchants. */
  readonly merchantIds?: readonly string[] | undefined;
  /** One of these deposit addresses. */
  readonly addresses?: readonly string[] | undefined;
  /** Inclusive bounds. */
  readonly createdFrom?: Date | undefined;
  readonly createdTo?: Date | undefined;
  /** Part of the payment ID. */
  readonly idPart?: string | undefined;
  /** Part of the transaction hash. */
  readonly hashPart?: string | undefined;
  readonly term?: Term | undefined;
}

const eb = expressionBuilder<Tables, 'payments'>();

/** The filters as a condition on a row of `payments`. */
export function conditions(
  partnerId: string,
  { status, blockchainId, merchantIds, addresses, term, ...rest }: PartnerPaymentFilters,
): Expression<SqlBool> {
  const { createdFrom, createdTo, idPart, hashPart } = rest;
  const all: Expression<SqlBool>[] = [eb('partner_id', '=', partnerId)];
  if (status !== undefined) all.push(eb('status', '=', status));
  if (blockchainId !== undefined) all.push(eb('blockchain_id', '=', blockchainId));
  if (merchantIds !== undefined) all.push(oneOf('merchant_id', merchantIds));
  if (addresses !== undefined) all.push(oneOf('address', addresses));
  if (createdFrom !== undefined) all.push(eb('created_at', '>=', createdFrom));
  if (createdTo !== undefined) all.push(eb('created_at', '<=', createdTo));
  if (idPart !== undefined) all.push(idContains(idPart));
  if (hashPart !== undefined) all.push(eb('transaction_hash', 'ilike', containing(hashPart)));
  if (term !== undefined) all.push(eb.or([textMatches(term.text), isReached(term.reach)]));
  return eb.and(all);
}

/** Whether the reference, the payment ID or the transaction hash contains the text, ignoring case. */
export function textMatches(text: string): Expression<SqlBool> {
  const pattern = containing(text);
  return eb.or([
    // References first, as a term that many payments match is part of most of them.
    eb('customer_reference_id', 'ilike', pattern),
    // An ID contains no UUID but itself, and its index is faster than that of its parts.
    UUID.test(text) ? eb('id', '=', text) : idContains(text),
    eb('transaction_hash', 'ilike', pattern),
  ]);
}

/** IDs are in lower case, and `like` takes half the time of `ilike`. */
function idContains(text: string): Expression<SqlBool> {
  return eb(eb.cast<string>('id', 'text'), 'like', containing(text.toLowerCase()));
}

/** Whether merchant or address are within the reach; never null, so that it can be negated. */
export function isReached({ merchantIds, addresses }: Reach): Expression<SqlBool> {
  const atAddress = eb.fn.coalesce(oneOf('address', addresses), eb.lit(false));
  return eb.or([oneOf('merchant_id', merchantIds), atAddress]);
}

function oneOf(column: 'merchant_id' | 'address', values: readonly string[]): Expression<SqlBool> {
  // Equality for a single value lets an index on the column provide the order.
  const [only] = values;
  if (only === undefined) return eb.lit(false);
  return eb(column, '=', values.length === 1 ? only : eb.fn.any(eb.val([...values])));
}
