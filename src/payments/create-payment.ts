import { createHash } from 'node:crypto';
import { v7 as uuidv7 } from 'uuid';
import type { CreatePaymentBody, CreatePaymentResponse } from '#schemas/create-payment.ts';
import { randomToken } from '../crypto/random-hex.ts';
import type { Connection } from '../database/connection.ts';
import type { Branch, Merchant, Payment } from '../database/tables.ts';
import { ApiError } from '../errors/api-error.ts';
import type { Principal } from '../keys/principal.ts';
import { listConfiguredNetworks } from '../repositories/deposit-addresses.ts';
import { insertEvent } from '../repositories/events.ts';
import { findMainBranch } from '../repositories/merchants.ts';
import { insertPayment } from '../repositories/payments.ts';
import { listRedirectDomains } from '../repositories/redirect-domains.ts';
import { chooseNetworks } from './offered-networks.ts';
import { findPayee } from './payee.ts';
import { toPaymentObject, toPaymentSnapshot } from './payment-object.ts';
import { checkRedirectUrl } from './redirect-url.ts';

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
}

/** How long a payment on a US account waits, in minutes; the processor's session ends with it. */
const REGULATED_WINDOW_MINUTES = 60;
const CHECKOUT_TOKEN_BYTES = 32;
const MINUTE_MS = 60_000;

/**
 * Creates a payment with its first event; run it in a transaction.
 * @throws ApiError for every business rule that refuses it.
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
  const token = randomToken(CHECKOUT_TOKEN_BYTES);
  const flow = await chooseFlow(db, merchant, branch, body.blockchainIds);
  const payment = await insertPayment(db, {
    id: uuidv7(),
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
    expires_at: new Date(request.now.getTime() + flow.windowMinutes * MINUTE_MS),
    created_at: request.now,
    redirect_url: body.redirectUrl ?? null,
    customer_reference_id: body.customerReferenceId ?? null,
    note: body.note ?? null,
    checkout_token_hash: hashCheckoutToken(token),
  });
  await recordCreation(db, payment);
  return {
    prompt: toPaymentObject(payment),
    checkoutUrl: `${settings.publicUrl}/${flow.checkoutPath}/${token}`,
  };
}

/** The stored form of a checkout token: whoever reads the table cannot open a checkout with it. */
export function hashCheckoutToken(token: string): Buffer {
  return createHash('sha256').update(token).digest();
}

/** How the account's kind has a payment processed; it never depends on the request. */
async function chooseFlow(
  db: Connection,
  merchant: Merchant,
  branch: Branch,
  requested: readonly string[] | undefined,
) {
  if (merchant.account_kind === 'us') {
    return {
      kind: 'regulated' as const,
      settlementModel: null,
      commissionAmount: null,
      blockchainIds: [],
      windowMinutes: REGULATED_WINDOW_MINUTES,
      checkoutPath: 'processor/sandbox',
    };
  }
  const networks = chooseNetworks(requested, await listConfiguredNetworks(db, branch.id));
  return {
    kind: 'crypto' as const,
    settlementModel: merchant.settlement_model,
    commissionAmount: merchant.settlement_model === 'direct' ? 0 : null,
    blockchainIds: networks.map(network => network.id),
    windowMinutes: Math.max(...networks.map(network => network.windowMinutes)),
    checkoutPath: 'checkout',
  };
}

async function recordCreation(db: Connection, payment: Payment): Promise<void> {
  await insertEvent(db, {
    id: uuidv7(),
    merchant_id: payment.merchant_id,
    payment_id: payment.id,
    type: 'payment_prompt.created',
    created_at: payment.created_at,
    data: JSON.stringify(toPaymentSnapshot(payment)),
  });
}
