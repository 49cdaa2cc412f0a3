import { type RawBuilder, type SqlBool, sql } from 'kysely';
import { UUID } from '#schemas/uuid.ts';
import type { PaymentStatus } from '../../database/payment-tables.ts';
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

/** The filters as a condition on a row of `payments`. */
export function conditions(partnerId: string, filters: PartnerPaymentFilters): RawBuilder<SqlBool> {
  const all: RawBuilder<unknown>[] = [sql`partner_id = ${partnerId}`];
  if (filters.status !== undefined) all.push(sql`status = ${filters.status}`);
  if (filters.blockchainId !== undefined) all.push(sql`blockchain_id = ${filters.blockchainId}`);
  if (filters.merchantIds !== undefined) all.push(oneOf('merchant_id', filters.merchantIds));
  if (filters.addresses !== undefined) all.push(oneOf('address', filters.addresses));
  if (filters.createdFrom !== undefined) all.push(sql`created_at >= ${filters.createdFrom}`);
  if (filters.createdTo !== undefined) all.push(sql`created_at <= ${filters.createdTo}`);
  if (filters.idPart !== undefined) all.push(idContains(filters.idPart));
  if (filters.hashPart !== undefined) {
    all.push(sql`transaction_hash ilike ${containing(filters.hashPart)}`);
  }
  if (filters.term !== undefined) {
    const { text, reach } = filters.term;
    all.push(sql`(${textMatches(text)} or ${isReached(reach)})`);
  }
  return sql<SqlBool>`${sql.join(all, sql` and `)}`;
}

/** Whether the reference, the payment ID or the transaction hash contains the text, ignoring case. */
export function textMatches(text: string): RawBuilder<SqlBool> {
  const pattern = containing(text);
  // An ID contains no UUID but itself, and its index is faster than that of its parts.
  const id = UUID.test(text) ? sql`id = ${text}` : idContains(text);
  // References first, as a term that many payments match is part of most of them.
  return sql`customer_reference_id ilike ${pattern} or ${id} or transaction_hash ilike ${pattern}`;
}

/** IDs are in lower case, and `like` takes half the time of `ilike`. */
function idContains(text: string): RawBuilder<SqlBool> {
  return sql`id::text like ${containing(text.toLowerCase())}`;
}

/** Whether merchant or address are within the reach; never null, so that it can be negated. */
export function isReached({ merchantIds, addresses }: Reach): RawBuilder<SqlBool> {
  return sql`${oneOf('merchant_id', merchantIds)} or coalesce(${oneOf('address', addresses)}, false)`;
}

function oneOf(column: 'merchant_id' | 'address', values: readonly string[]): RawBuilder<SqlBool> {
  // Equality for a single value lets an index on the column provide the order.
  const [only] = values;
  if (only === undefined) return sql`false`;
  if (values.length === 1) return sql`${sql.ref(column)} = ${only}`;
  const type = sql.raw(column === 'address' ? 'text' : 'uuid');
  return sql`${sql.ref(column)} = any(${[...values]}::${type}[])`;
}
