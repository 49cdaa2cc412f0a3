import type { Principal } from '#accounts/keys/principal.ts';
import type { CreatePaymentBody } from '#schemas/create-payment.ts';
import type { CommissionPayer, SettlementModel } from '#storage/database/account-tables.ts';
import type { Payment, PaymentFlow } from '#storage/database/payment-tables.ts';
import type { TraceContext } from '#telemetry/trace-context.ts';
import type { Payee } from './payee.ts';

export interface CreatePaymentRequest {
  readonly principal: Principal;
  readonly body: CreatePaymentBody;
  /** Terms of the request itself, in place of the merchant's and the networks' settings. */
  readonly terms?: PaymentTerms;
  /** Trace of the request. */
  readonly trace?: TraceContext | null;
}

/** What a contract fixes for each payment in place of the settings. */
interface PaymentTerms {
  readonly commissionPayer: CommissionPayer;
  /** How long the payment waits, in minutes, on any network. */
  readonly windowMinutes: number;
}

/** The columns of a new payment that depend on how it is processed. */
interface Flow {
  readonly kind: PaymentFlow;
  readonly settlementModel: SettlementModel | null;
  /** Cents; null while it is not determined. */
  readonly commissionAmount: number | null;
  readonly blockchainIds: string[];
  readonly expiresAt: Date;
  /** When the processor is first asked about the payment; null on chain. */
  readonly inquireAt: Date | null;
  readonly createdAt: Date;
  readonly checkoutTokenHash: Buffer | null;
  readonly processor: string | null;
  /** The processor's reference. */
  readonly externalId: string | null;
}

/** The row of a payment at its creation: pending, nothing chosen, nothing seen. */
export function newPayment(
  id: string,
  { merchant, mainBranchId }: Payee,
  { principal, body, terms }: CreatePaymentRequest,
  flow: Flow,
): Payment {
  return {
    id,
    merchant_id: merchant.id,
    branch_id: mainBranchId,
    partner_id: merchant.partner_id,
    created_by: principal.keyId,
    flow: flow.kind,
    amount: body.amount,
    commission_amount: flow.commissionAmount,
    commission_bps: merchant.commission_bps,
    commission_payer: terms?.commissionPayer ?? merchant.commission_payer,
    settlement_model: flow.settlementModel,
    status: 'pending',
    session_status: 'pending',
    offered_blockchain_ids: flow.blockchainIds,
    blockchain_id: null,
    address: null,
    token_amount: null,
    token_decimals: null,
    transaction_hash: null,
    paid_at: null,
    expires_at: flow.expiresAt,
    created_at: flow.createdAt,
    redirect_url: body.redirectUrl ?? null,
    customer_reference_id: body.customerReferenceId ?? null,
    note: body.note ?? null,
    cancellation_reason: null,
    last_error_code: null,
    last_error_message: null,
    last_error_at: null,
    processor: flow.processor,
    external_id: flow.externalId,
    checkout_token_hash: flow.checkoutTokenHash,
    expiry_fixed: terms !== undefined,
    inquire_at: flow.inquireAt,
    quoted_until: null,
    quoted_at: null,
  };
}
