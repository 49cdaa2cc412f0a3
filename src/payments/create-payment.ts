import { createHash } from 'node:crypto';
import { v7 as uuidv7 } from 'uuid';
import type { CreatePaymentBody, CreatePaymentResponse } from '#schemas/create-payment.ts';
import { randomToken } from '../crypto/random-hex.ts';
import type { Connection } from '../database/connection.ts';
import type { Branch, Merchant } from '../database/tables.ts';
import { ApiError } from '../errors/api-error.ts';
import { recordEvent } from '../events/record-event.ts';
import type { Principal } from '../keys/principal.ts';
import type { Processor } from '../processors/processor.ts';
import { listConfiguredNetworks } from '../repositories/deposit-addresses.ts';
import { findMainBranch } from '../repositories/merchants.ts';
import { insertPayment } from '../repositories/payments.ts';
import { listRedirectDomains } from '../repositories/redirect-domains.ts';
import { chooseNetworks } from './offered-networks.ts';
import { findPayee } from './payee.ts';
import { toPaymentObject } from './payment-object.ts';
import { checkRedirectUrl } from './redirect-url.ts';
import { openRegulatedFlow } from './regulated-flow.ts';

export interface CreatePaymentRequest {
  readonly principal: Principal;
  readonly body: CreatePaymentBody;
  readonly now: Date;
}

export interface CreatePaymentSettings {
  /** Base of checkout URLs. */
  readonly publicUrl: string;
  /** Whether redirects may lead to allowed loopback hosts over plain HTTP. */
  readonly allowLoopbackHttp: boolean;
  /** Collects payments on US accounts; null refuses to create them. */
  readonly processor: Processor | null;
}

const CHECKOUT_TOKEN_BYTES = 32;
const MINUTE_MS = 60_000;

/**
 * Creates a payment with its first event; run it in a transaction.
 * @throws ApiError for every business rule that refuses it.
 * @throws ProcessorUnavailable, ProcessorRefused on US accounts.
 */
export async function createPayment(
  db: Connection,
  request: CreatePaymentRequest,
  settings: CreatePaymentSettings,
): Promise<CreatePaymentResponse> {
  const { body } = request;
  const merchant = await findPayee(db, request.principal, body.merchantId);
  const branch = await findMainBranch(db, merchant.id);
  if (branch === undefined) throw new ApiError('E1030', 'The merchant has no main branch.');
  if (body.redirectUrl !== undefined) {
    const domains = await listRedirectDomains(db, merchant.id);
    checkRedirectUrl(body.redirectUrl, domains, settings.allowLoopbackHttp);
  }
  const id = uuidv7();
  const flow =
    merchant.account_kind === 'us'
      ? await openRegulatedFlow(settings.processor, merchant, id, body, request.now)
      : await openCryptoFlow(db, merchant, branch, body.blockchainIds, request.now, settings);
  const payment = await insertPayment(db, {
    id,
    merchant_id: merchant.id,
    branch_id: branch.id,
    partner_id: merchant.partner_id,
    created_by: request.principal.keyId,
    flow: flow.kind,
    amount: body.amount,
    commission_amount: flow.commissionAmount,
    commission_bps: merchant.commission_bps,
    commission_payer: merchant.commission_payer,
    settlement_model: flow.settlementModel,
    offered_blockchain_ids: flow.blockchainIds,
    expires_at: flow.expiresAt,
    created_at: request.now,
    redirect_url: body.redirectUrl ?? null,
    customer_reference_id: body.customerReferenceId ?? null,
    note: body.note ?? null,
    checkout_token_hash: flow.checkoutTokenHash,
    processor: flow.processor,
    external_id: flow.externalId,
  });
  await recordEvent(db, 'payment_prompt.created', payment, payment.created_at);
  return { prompt: toPaymentObject(payment), checkoutUrl: flow.checkoutUrl };
}

/** The stored form of a checkout token: whoever reads the table cannot open a checkout with it. */
export function hashCheckoutToken(token: string): Buffer {
  return createHash('sha256').update(token).digest();
}

/** How a payment on a standard account is processed: on chain, by our own checkout. */
async function openCryptoFlow(
  db: Connection,
  merchant: Merchant,
  branch: Branch,
  requested: readonly string[] | undefined,
  now: Date,
  { publicUrl }: CreatePaymentSettings,
) {
  const token = randomToken(CHECKOUT_TOKEN_BYTES);
  const networks = chooseNetworks(requested, await listConfiguredNetworks(db, branch.id));
  const windowMinutes = Math.max(...networks.map(network => network.windowMinutes));
  return {
    kind: 'crypto' as const,
    settlementModel: merchant.settlement_model,
    commissionAmount: merchant.settlement_model === 'direct' ? 0 : null,
    blockchainIds: networks.map(network => network.id),
    expiresAt: new Date(now.getTime() + windowMinutes * MINUTE_MS),
    checkoutUrl: `${publicUrl}/checkout/${token}`,
    checkoutTokenHash: hashCheckoutToken(token),
    processor: null,
    externalId: null,
  };
}
