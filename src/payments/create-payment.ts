import { v7 as uuidv7 } from 'uuid';
import type { CreatePaymentBody, CreatePaymentResponse } from '#schemas/create-payment.ts';
import type { Clock } from '../clock.ts';
import type { Connection } from '../database/connection.ts';
import type { Branch, CommissionPayer, Merchant } from '../database/tables.ts';
import { recordEvent } from '../events/record-event.ts';
import type { Principal } from '../keys/principal.ts';
import type { Processor } from '../processors/processor.ts';
import { listConfiguredNetworks } from '../repositories/deposit-addresses.ts';
import { findMainBranch } from '../repositories/merchants.ts';
import { insertPayment } from '../repositories/payments.ts';
import { listRedirectDomains } from '../repositories/redirect-domains.ts';
import { hashCheckoutToken, issueCheckoutToken } from './checkout-token.ts';
import { chooseNetworks } from './offered-networks.ts';
import { findPayee, MainBranchMissing } from './payee.ts';
import { toPaymentObject } from './payment-object.ts';
import { checkRedirectUrl } from './redirect-url.ts';
import { openRegulatedFlow } from './regulated-flow.ts';

export interface CreatePaymentRequest {
  readonly principal: Principal;
  readonly body: CreatePaymentBody;
  readonly clock: Clock;
  /** What the request itself settles; left out, the settings of merchant and networks do. */
  readonly terms?: PaymentTerms;
}

/** What a contract agrees for each payment in place of the settings. */
export interface PaymentTerms {
  readonly commissionPayer: CommissionPayer;
  /** How long the payment waits, in minutes, whichever network is chosen. */
  readonly windowMinutes: number;
}

export interface CreatePaymentSettings {
  /** Base of checkout URLs. */
  readonly publicUrl: string;
  /** Whether redirects may lead to allowed loopback hosts over plain HTTP. */
  readonly allowLoopbackHttp: boolean;
  /** Collects payments on US accounts; null refuses to create them. */
  readonly processor: Processor | null;
}

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
  const { body, terms } = request;
  const merchant = await findPayee(db, request.principal, body.merchantId);
  const branch = await findMainBranch(db, merchant.id);
  if (branch === undefined) throw new MainBranchMissing();
  if (body.redirectUrl !== undefined) {
    const domains = await listRedirectDomains(db, merchant.id);
    checkRedirectUrl(body.redirectUrl, domains, settings.allowLoopbackHttp);
  }
  const id = uuidv7();
  const now = new Date(request.clock());
  const flow =
    merchant.account_kind === 'us'
      ? await openRegulatedFlow(settings.processor, merchant, id, body, now, terms)
      : await openCryptoFlow(db, merchant, branch, request, now, settings);
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
    commission_payer: terms?.commissionPayer ?? merchant.commission_payer,
    settlement_model: flow.settlementModel,
    offered_blockchain_ids: flow.blockchainIds,
    expires_at: flow.expiresAt,
    expiry_fixed: terms !== undefined,
    // A processor takes seconds to answer; whoever pages by creation time must not have passed it.
    created_at: flow.kind === 'regulated' ? new Date(request.clock()) : now,
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

/** How a payment on a standard account is processed: on chain, by our own checkout. */
async function openCryptoFlow(
  db: Connection,
  merchant: Merchant,
  branch: Branch,
  { body, terms }: CreatePaymentRequest,
  now: Date,
  { publicUrl }: CreatePaymentSettings,
) {
  const token = issueCheckoutToken();
  const networks = chooseNetworks(body.blockchainIds, await listConfiguredNetworks(db, branch.id));
  const windowMinutes =
    terms?.windowMinutes ?? Math.max(...networks.map(network => network.windowMinutes));
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
