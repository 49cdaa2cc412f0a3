import type { LegacyCreated, LegacyPrompt, LegacyPromptBody } from '#schemas/legacy.ts';
import { UUID } from '#schemas/uuid.ts';
import type { Connection, Database } from '../database/connection.ts';
import type { Principal } from '../keys/principal.ts';
import { createPayment } from '../payments/create-payment.ts';
import type { CreatePaymentDependencies } from '../payments/decide-creation.ts';
import { toCents, toDollars, toDollarText } from '../payments/dollars.ts';
import { toPaymentObject } from '../payments/payment-object.ts';
import { findMerchantPayment } from '../repositories/payments.ts';
import type { TraceContext } from '../telemetry/trace-context.ts';
import { LegacyRefusal } from './refusal.ts';

/** How long a prompt of the older contract waits for its payment, in minutes: 24 hours. */
export const LEGACY_WINDOW_MINUTES = 24 * 60;

export interface CreatePromptRequest {
  readonly principal: Principal;
  readonly body: LegacyPromptBody;
  /** The trace it belongs to. */
  readonly trace: TraceContext | null;
}

/**
 * Creates a payment by the rules of v1, on the older contract's terms.
 * @throws LegacyRefusal, ApiError, ProcessorUnavailable, ProcessorRefused, UncertainCommit
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
      // Of a payment just created.
      sessionStatus: 'pending',
      expiresAt: prompt.expiresAt,
      createdAt: prompt.createdAt,
      redirectUrl: prompt.redirectUrl,
    },
    checkoutUrl,
  };
}

/**
 * A merchant's own payment, whichever contract created it.
 * @throws LegacyRefusal for any other, and for what is no ID.
 */
export async function readPrompt(
  db: Connection,
  merchantId: string,
  id: string,
): Promise<LegacyPrompt> {
  const payment = UUID.test(id) ? await findMerchantPayment(db, merchantId, id) : undefined;
  if (payment === undefined) throw new LegacyRefusal('promptMissing');
  return {
    id: payment.id,
    blockchainId: payment.blockchain_id,
    status: payment.status,
    createdAt: toPaymentObject(payment).createdAt,
  };
}
