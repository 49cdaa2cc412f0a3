import { type Expression, expressionBuilder, type SqlBool, sql } from 'kysely';
import { UUID } from '#schemas/uuid.ts';
import type { Tables } from '../../database/tables.ts';
import { containing } from '../like-pattern.ts';
import type { Reach, TotalsFilter } from './totals.ts';

/** A search term: part of the payment's own text, of its merchant's name or ID, or of its address. */
export interface Term {
  readonly text: string;
  /** The merchants and addresses that contain the text. */
  readonly reach: Reach;
}

/** All given filters must match. */
export interface PartnerPaymentFilters extends TotalsFilter {
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

/**
 * How parts of texts are looked for: by their index, or by comparing the texts of each payment. The index has the
 * texts of all partners.
 */
type TextSearch = 'index' | 'comparison';

/** The filters as a condition on a row of `payments`. */
export function conditions(
  partnerId: string,
  filters: PartnerPaymentFilters,
  by: TextSearch = 'comparison',
): Expression<SqlBool> {
  return eb.and([...columnConditions(partnerId, filters), ...textConditions(filters, by)]);
}

/** The filters that do not look for parts of texts. */
export function columnConditions(
  partnerId: string,
  filters: PartnerPaymentFilters,
): Expression<SqlBool>[] {
  const { status, blockchainId, merchantIds, addresses, createdFrom, createdTo } = filters;
  const all: Expression<SqlBool>[] = [eb('partner_id', '=', partnerId)];
  if (status !== undefined) all.push(eb('status', '=', status));
  if (blockchainId !== undefined) all.push(eb('blockchain_id', '=', blockchainId));
  if (merchantIds !== undefined) all.push(oneOf('merchant_id', merchantIds));
  if (addresses !== undefined) all.push(oneOf('address', addresses));
  if (createdFrom !== undefined) all.push(eb('created_at', '>=', createdFrom));
  if (createdTo !== undefined) all.push(eb('created_at', '<=', createdTo));
  return all;
}

/**
 * The bounds of time and one more filter that, with the partner, have an index in the order of a list: only the rows
 * that match these are read to find the newest.
 */
export function leadOf({
  status,
  blockchainId,
  merchantIds,
  addresses,
  createdFrom,
  createdTo,
}: PartnerPaymentFilters): PartnerPaymentFilters {
  const time = { createdFrom, createdTo };
  if (addresses?.length === 1) return { ...time, addresses };
  if (merchantIds?.length === 1) return { ...time, merchantIds };
  if (blockchainId !== undefined) return { ...time, blockchainId };
  return { ...time, status };
}

/** Whether a part of a text is looked for, which each payment may have to be compared with. */
export function hasText({ idPart, hashPart, term }: PartnerPaymentFilters): boolean {
  return idPart !== undefined || hashPart !== undefined || term !== undefined;
}

function textConditions({ idPart, hashPart, term }: PartnerPaymentFilters, by: TextSearch) {
  const all: Expression<SqlBool>[] = [];
  if (idPart !== undefined) all.push(idContains(idPart, by));
  if (hashPart !== undefined) all.push(contains('transaction_hash', hashPart, by));
  if (term !== undefined) all.push(eb.or([isReached(term.reach), textMatches(term.text, by)]));
  return all;
}

/** Conditions that a payment's own texts contain the parts, whatever its merchant and address contain. */
export function ownTextConditions(
  { term, idPart, hashPart }: PartnerPaymentFilters,
  by: TextSearch,
): Expression<SqlBool>[] {
  const rest = textConditions({ idPart, hashPart }, by);
  return term === undefined ? rest : [...rest, textMatches(term.text, by)];
}

/** Whether the reference, the payment ID or the transaction hash contains the text, ignoring case. */
export function textMatches(text: string, by: TextSearch): Expression<SqlBool> {
  return eb.or([
    // References first, as a term that many payments match is part of most of them.
    contains('customer_reference_id', text, by),
    // An ID contains no UUID but itself, and its index is faster than that of its parts.
    UUID.test(text) ? eb('id', '=', text) : idContains(text, by),
    contains('transaction_hash', text, by),
  ]);
}

const ASCII = /^[ -~]*$/;

function contains(
  column: 'customer_reference_id' | 'transaction_hash',
  text: string,
  by: TextSearch,
): Expression<SqlBool> {
  const isAscii = ASCII.test(text);
  if (by === 'comparison' && isAscii) return asciiContains(column, text);
  // The case of other characters may fold differently, depending on their neighbours.
  const part = by === 'index' && isAscii ? telling(text) : text;
  const matches = eb(column, 'ilike', containing(part));
  if (part === text) return matches;
  return eb.and([matches, sql<SqlBool>`strpos(lower(${sql.ref(column)}), lower(${text})) > 0`]);
}

/**
 * Takes half the time of `ilike`, which folds both texts by the rules of a language, and a quarter for a text without
 * letters. Some non-ASCII letters become ASCII in lower case; a hash has none.
 */
function asciiContains(
  column: 'customer_reference_id' | 'transaction_hash',
  text: string,
): Expression<SqlBool> {
  const value = sql.ref(column);
  if (!/[a-z]/i.test(text)) return sql`strpos(${value}, ${text}) > 0`;
  const matches = sql<SqlBool>`strpos(lower(${value} collate "C"), ${text.toLowerCase()}) > 0`;
  if (column === 'transaction_hash') return matches;
  return sql<SqlBool>`case when octet_length(${value}) = length(${value}) then ${matches}
    else ${value} ilike ${containing(text)} end`;
}

/** IDs are in lower case, and `like` takes half the time of `ilike`. */
function idContains(text: string, by: TextSearch): Expression<SqlBool> {
  if (!/^[0-9a-f-]*$/i.test(text)) return eb.lit(false);
  const id = eb.cast<string>('id', 'text');
  const isContained = sql<SqlBool>`strpos(${id}, ${text.toLowerCase()}) > 0`;
  if (by === 'comparison') return isContained;
  return eb.and([eb(id, 'like', containing(telling(text).toLowerCase())), isContained]);
}

/**
 * Whether the trigram index can find one of the texts: it has every three consecutive letters and digits of a word,
 * and nothing else.
 */
export function isIndexed({ idPart, hashPart, term }: PartnerPaymentFilters): boolean {
  const texts = [idPart, hashPart, term?.text];
  return texts.some(text => text !== undefined && /[\p{L}\p{N}]{3}/u.test(text));
}

/** Number of characters of a text that its index is searched for. */
const TOLD_BY = 8;

/**
 * The most distinctive part of a text, which is what its index is searched for. The index has trigrams, and reads where
 * each of them occurs: all of `ORD-2026-0001234567` takes ten times as long as its end. Digits tell references apart,
 * and most references begin with what they have in common.
 */
function telling(text: string): string {
  if (text.length <= TOLD_BY) return text;
  let best = '';
  let most = -1;
  for (let start = text.length - TOLD_BY; start >= 0; start--) {
    const part = text.slice(start, start + TOLD_BY);
    const digits = part.replace(/\D/g, '').length;
    if (digits > most) [best, most] = [part, digits];
  }
  return best;
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
