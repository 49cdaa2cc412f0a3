import type { PaymentObject } from '#schemas/payment.ts';
import { UUID } from '#schemas/uuid.ts';
import type { Connection } from '#storage/database/connection.ts';
import type { Payment } from '#storage/database/payment-tables.ts';
import { listMerchantPayments } from '#storage/repositories/payments/merchant-payments.ts';
import { findOwnPayment, findOwnPaymentsByHash } from '#storage/repositories/payments/payments.ts';
import {
  type PaymentSearch,
  type SearchText,
  searchPayments,
} from '#storage/repositories/payments/search.ts';
import { parseDollars } from './dollars.ts';
import { toPaymentObject } from './payment-object.ts';

/** Shorter parts occur in too many references. */
export const PART_MINIMUM = 3;

/** A plain decimal, as amounts on chain are shown. */
const TOKENS = /^\d{1,30}(\.\d{1,18})?$/;

/** Where a search continues. */
export interface SearchCursor {
  /** ID of the payment after which it continues. */
  readonly after: string;
  /** ID of the oldest payment that was shown because its whole reference matched, before the search has reached it. */
  readonly told?: string | undefined;
}

/** What a search finds, newest first. */
interface FoundPage {
  readonly data: readonly PaymentObject[];
  /** Where the search continues; null at the end. */
  readonly next: SearchCursor | null;
}

type Filters = Omit<PaymentSearch, 'text'>;

/**
 * A page of a merchant's payments that match filters and a text: a payment's ID, a transaction's hash, a
 * reference or a part of it of at least three characters in any case, an amount in dollars or on chain, a
 * deposit address. Each call looks at a bounded number of payments: a page may have fewer than `limit`, or
 * none, and still be followed by others.
 */
export async function findPayments(
  db: Connection,
  merchantId: string,
  { filters, text }: { readonly filters: Filters; readonly text: string | undefined },
  { cursor, limit }: { readonly cursor: SearchCursor | undefined; readonly limit: number },
): Promise<FoundPage> {
  if (text !== undefined && cursor === undefined) {
    const named = await findNamed(db, merchantId, text, filters);
    if (named.length > 0) return { data: named.map(toPaymentObject), next: null };
  }
  const search = {
    ...filters,
    text: text === undefined ? undefined : { ...readText(text), oldestShown: cursor?.told },
  };
  const place = { after: cursor?.after, limit: limit + 1 };
  const { payments, end } = await searchPayments(db, merchantId, search, place);
  const page = payments.slice(0, limit);
  const after = payments.length > limit ? (page.at(-1)?.id ?? null) : end;
  if (after === null) return { data: page.map(toPaymentObject), next: null };
  const isFirst = cursor === undefined && filters.deviation === undefined;
  if (text === undefined || !isFirst || payments.length > limit) {
    return { data: page.map(toPaymentObject), next: { ...cursor, after } };
  }
  // Whole references are indexed, so they are found however old their payments are.
  const whole = { ...filters, customerReferenceId: text };
  const rest = { direction: 'older', id: after } as const;
  const older = await listMerchantPayments(db, merchantId, whole, rest, limit);
  const matching = older.filter(payment => matches(payment, filters));
  return {
    data: [...page, ...matching].map(toPaymentObject),
    next: { after, told: older.at(-1)?.id },
  };
}

/** The few payments that a text names by their ID or a transaction's hash. */
async function findNamed(
  db: Connection,
  merchantId: string,
  text: string,
  filters: Filters,
): Promise<Payment[]> {
  const found = UUID.test(text)
    ? [await findOwnPayment(db, merchantId, text)]
    : await findOwnPaymentsByHash(db, merchantId, text);
  return found
    .filter(payment => payment !== undefined)
    .filter(payment => matches(payment, filters));
}

/** Whether a payment matches the filters of its own columns, its creation aside. */
function matches(
  payment: Pick<Payment, 'status' | 'blockchain_id' | 'amount'>,
  { status, blockchainId, amountMinimum = 0, amountMaximum = Number.MAX_SAFE_INTEGER }: Filters,
): boolean {
  return (
    (status === undefined || payment.status === status) &&
    (blockchainId === undefined || payment.blockchain_id === blockchainId) &&
    payment.amount >= amountMinimum &&
    payment.amount <= amountMaximum
  );
}

function readText(text: string): SearchText {
  return {
    whole: text,
    part: [...text].length >= PART_MINIMUM ? text : null,
    cents: parseDollars(text) ?? null,
    tokens: TOKENS.test(text) ? text : null,
  };
}
