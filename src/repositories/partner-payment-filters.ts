import { type RawBuilder, type SqlBool, sql } from 'kysely';
import { UUID } from '#schemas/uuid.ts';
import type { PaymentStatus } from '../database/tables.ts';
import { beginningWith, containing } from './like-pattern.ts';
import type { Reach } from './partner-totals.ts';

/** How a search term matches a payment's own columns. */
export type TextMatch =
  /** Part of the payment ID, the transaction hash or the reference, ignoring case. */
  | { readonly kind: 'fragment'; readonly text: string }
  /** The whole payment ID or transaction hash, or the beginning of the reference. */
  | { readonly kind: 'whole'; readonly text: string };

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
  /** A search term: the payment's own text, its merchant or its address. */
  readonly term?: { readonly reach: Reach; readonly match: TextMatch } | undefined;
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
  if (filters.idPart !== undefined) all.push(sql`id::text ilike ${containing(filters.idPart)}`);
  if (filters.hashPart !== undefined) {
    all.push(sql`transaction_hash ilike ${containing(filters.hashPart)}`);
  }
  if (filters.term !== undefined) {
    const { reach, match } = filters.term;
    all.push(sql`(${textMatches(match)} or ${isReached(reach)})`);
  }
  return sql<SqlBool>`${sql.join(all, sql` and `)}`;
}

/** Whether the payment's own columns match. */
export function textMatches({ kind, text }: TextMatch): RawBuilder<SqlBool> {
  if (kind === 'fragment') {
    const pattern = containing(text);
    return sql`id::text ilike ${pattern} or transaction_hash ilike ${pattern}
      or customer_reference_id ilike ${pattern}`;
  }
  const matches = [
    sql`lower(transaction_hash) = lower(${text})`,
    sql`lower(customer_reference_id) like lower(${beginningWith(text)})`,
  ];
  if (UUID.test(text)) matches.push(sql`id = ${text}`);
  return sql`${sql.join(matches, sql` or `)}`;
}

/** Whether merchant or address are within the reach; never null, so that it can be negated. */
export function isReached({ merchantIds, addresses }: Reach): RawBuilder<SqlBool> {
  return sql`${oneOf('merchant_id', merchantIds)} or coalesce(${oneOf('address', addresses)}, false)`;
}

function oneOf(column: 'merchant_id' | 'address', values: readonly string[]): RawBuilder<SqlBool> {
  // Equality for a single value lets an index on the column provide the order.
  const [only] = values;
  if (values.length === 1) return sql`${sql.ref(column)} = ${only}`;
  const type = sql.raw(column === 'address' ? 'text' : 'uuid');
  return sql`${sql.ref(column)} = any(${[...values]}::${type}[])`;
}
