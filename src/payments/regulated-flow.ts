import type { BaseLogger } from 'pino';
import { ApiError } from '#errors/api-error.ts';
import type { PaidMerchant } from '#storage/repositories/accounts/merchant-setup.ts';
import { dueCents } from './commission.ts';
import type { CreatePaymentRequest } from './new-payment.ts';
import { type Processor, ProcessorRefused, type ProcessorSession } from './processor.ts';

/** How long a payment on a US account waits by default, in minutes. */
export const REGULATED_WINDOW_MINUTES = 60;
/**
 * Minutes between the end of the processor's session and our expiry, so that the notification of a
 * last-second payment still arrives in time.
 */
const NOTIFICATION_MINUTES = 10;
const MINUTE_MS = 60_000;
/**
 * When the processor is first asked for the state of a payment, in milliseconds from its creation: most
 * customers are done by then, and most notifications have arrived.
 */
export const FIRST_INQUIRY_MS = 5 * MINUTE_MS;

interface RegulatedDependencies {
  /** Of live merchants; null refuses to create their payments. */
  readonly processor: Processor | null;
  /** Of test merchants. */
  readonly sandbox: Processor;
  readonly logger: Pick<BaseLogger, 'warn'>;
}

/**
 * How a payment on a US account is processed: by a session that the processor opens.
 *
 * The creation's transaction stays open during the call. Nothing is written before it, so that it holds a connection
 * and the idempotency key, but no row that others wait for. A session whose payment is not committed is not used and
 * ends by itself.
 *
 * @throws ApiError E1030 without a processor, E1040 when it refuses the payment, E5002 when the call is not made at all.
 * @throws ProcessorUnavailable
 */
export async function openRegulatedFlow(
  { processor: configured, sandbox, logger }: RegulatedDependencies,
  merchant: PaidMerchant,
  paymentId: string,
  { body, terms, trace = null }: Pick<CreatePaymentRequest, 'body' | 'terms' | 'trace'>,
  now: Date,
) {
  const processor = merchant.environment === 'test' ? sandbox : configured;
  if (processor === null) {
    throw new ApiError('E1030', 'Payments of US accounts have no processor configured.');
  }
  const windowMinutes = terms?.windowMinutes ?? REGULATED_WINDOW_MINUTES;
  const expiresAt = new Date(now.getTime() + windowMinutes * MINUTE_MS);
  const session = await openSession(processor, logger, {
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
    inquireAt: new Date(now.getTime() + FIRST_INQUIRY_MS),
    checkoutUrl: session.url,
    checkoutTokenHash: null,
    processor: processor.name,
    externalId: session.externalId,
  };
}

/**
 * Opens a session. The processor would refuse the same request again, so its refusal is reported as one of the
 * request, and the idempotency key stays free. The log has the processor's message.
 */
async function openSession(
  processor: Processor,
  logger: Pick<BaseLogger, 'warn'>,
  session: ProcessorSession,
): Promise<Awaited<ReturnType<Processor['createSession']>>> {
  try {
    return await processor.createSession(session);
  } catch (error) {
    if (!(error instanceof ProcessorRefused)) throw error;
    logger.warn({ err: error, paymentId: session.paymentId }, 'processor refuses a payment');
    throw new ApiError('E1040', error.reason, { cause: error });
  }
}
