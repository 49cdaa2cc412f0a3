import type { Merchant } from '../database/tables.ts';
import { ApiError } from '../errors/api-error.ts';
import { dueCents } from './commission.ts';
import type { CreatePaymentRequest } from './new-payment.ts';
import type { Processor } from './processor.ts';

/** How long a payment on a US account waits unless told otherwise, in minutes. */
export const REGULATED_WINDOW_MINUTES = 60;
/**
 * How much sooner the processor's session ends than the payment expires, in minutes: what a customer
 * pays in the last second still has to be told before the payment is over.
 */
const NOTIFICATION_MINUTES = 10;
const MINUTE_MS = 60_000;

/**
 * How a payment on a US account is processed: by a session that the processor opens.
 *
 * The creation's transaction stays open during the call, which is why it comes before anything is
 * written: it holds a connection and the idempotency key, but no row that others wait for. A session
 * whose payment is not committed after all is known to nobody and ends by itself.
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
