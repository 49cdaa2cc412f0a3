import type { Principal } from '#accounts/keys/principal.ts';
import { createPayment } from '#payments/create-payment.ts';
import type { CreatePaymentDependencies } from '#payments/decide-creation.ts';
import { toCents, toDollars, toDollarText } from '#payments/dollars.ts';
import { toPaymentObject } from '#payments/payment-object.ts';
import type { LegacyCreated, LegacyPrompt, LegacyPromptBody } from '#schemas/legacy.ts';
import { UUID } from '#schemas/uuid.ts';
import type { Connection, Database } from '#storage/database/connection.ts';
import { findMerchantPayment } from '#storage/repositories/payments/merchant-payments.ts';
import type { TraceContext } from '#telemetry/trace-context.ts';
import { LegacyRefusal } from './refusal.ts';

/** Payment window of the older contract: 24 hours, in minutes. */
export const LEGACY_WINDOW_MINUTES = 24 * 60;

interface CreatePromptRequest {
  readonly principal: Principal;
  readonly body: LegacyPromptBody;
  /** Trace of the request. */
  readonly trace: TraceContext | null;
}

/**
 * Creates a payment like v1, but with the payer and the payment window of the older contract.
 * @throws LegacyRefusal, ApiError, ProcessorUnavailable, UncertainCommit
 */
export async function createPrompt(
  db: Database,
  deps: CreatePaymentDependencies,
  { principal, body, trace }: CreatePromptRequest,
): Promise<LegacyCreated> {
  const amount = toCents(body.amount);
  if (amount === undefined) throw new LegacyRefusal('bodyInvalid', { detail: 'amount' });
  const { prompt, checkoutUrl } = await createPayment(db, deps, {
    principal,
    trace,
    body: {
      amount,
      blockchainIds: body.blockchainIds,
      ...(body.note == null ? {} : { note: body.note }),
      ...(body.redirectUrl == null ? {} : { redirectUrl: body.redirectUrl }),
    },
    terms: {
      commissionPayer: body.payer === 'customer' ? 'shopper' : 'merchant',
      windowMinutes: LEGACY_WINDOW_MINUTES,
    },
  });
  return {
    prompt: {
      id: prompt.id,
      amount: toDollars(prompt.amount),
      commissionAmount: toDollarText(prompt.commissionAmount ?? 0),
      status: prompt.status,
      sessionStatus: 'pending',
      expiresAt: prompt.expiresAt,
      createdAt: prompt.createdAt,
      redirectUrl: prompt.redirectUrl,
    },
    checkoutUrl,
  };
}

/**
 * Reads a merchant's payment, of either contract.
 * @throws LegacyRefusal when the merchant has no such payment, or the ID is not a UUID.
 */
export async function readPrompt(
  db: Connection,
  merchantId: string,
  id: string,
): Promise<LegacyPrompt> {
  const payment = UUID.test(id)
    ? await findMerchantPayment(db, merchantId, id.toLowerCase())
    : undefined;
  if (payment === undefined) throw new LegacyRefusal('promptMissing');
  return {
    id: payment.id,
    blockchainId: payment.blockchain_id,
    status: payment.status,
    createdAt: toPaymentObject(payment).createdAt,
  };
}
