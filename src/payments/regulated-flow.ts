import type { Merchant } from '../database/tables.ts';
import { ApiError } from '../errors/api-error.ts';
import { dueCents } from './commission.ts';
import type { CreatePaymentRequest } from './new-payment.ts';
import type { Processor } from './processor.ts';

/** How long a payment on a US account waits by default, in minutes. */
export const REGULATED_WINDOW_MINUTES = 60;
/**
 * Minutes between the end of the processor's session and our expiry, so that the notification of a
 * last-second payment still arrives in time.
 */
const NOTIFICATION_MINUTES = 10;
const MINUTE_MS = 60_000;

/**
 * How a payment on a US account is processed: by a session that the processor opens.
 *
 * The creation's transaction stays open during the call. Nothing is written before it, so that it holds
 * a connection and the idempotency key, but no row that others wait for. A session whose payment is not
 * committed is not used and ends by itself.
 *
 * @throws ApiError E1030 without a processor, E5002 when it is not even asked.
 * @throws ProcessorUnavailable, ProcessorRefused
 */
export async function openRegulatedFlow(
  processor: Processor | null,
  merchant: Merchant,
  paymentId: string,
  { body, terms, trace = null }: Pick<CreatePaymentRequest, 'body' | 'terms' | 'trace'>,
  now: Date,
) {
  if (processor === null) {
    throw new ApiError('E1030', 'Payments of US accounts have no processor configured.');
  }
  const windowMinutes = terms?.windowMinutes ?? REGULATED_WINDOW_MINUTES;
  const expiresAt = new Date(now.getTime() + windowMinutes * MINUTE_MS);
  const session = await processor.createSession({
    paymentId,
    amountCents: dueCents({
      amount: body.amount,
      commission_bps: merchant.commission_bps,
      commission_payer: terms?.commissionPayer ?? merchant.commission_payer,
      settlement_model: null,
    }),
    merchantName: merchant.name,
    note: body.note ?? null,
    expiresAt: new Date(expiresAt.getTime() - NOTIFICATION_MINUTES * MINUTE_MS),
    trace,
  });
  return {
    kind: 'regulated' as const,
    settlementModel: null,
    commissionAmount: null,
    blockchainIds: [],
    expiresAt,
    checkoutUrl: session.url,
    checkoutTokenHash: null,
    processor: processor.name,
    externalId: session.externalId,
  };
}
