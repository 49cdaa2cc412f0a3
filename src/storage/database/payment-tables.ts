import type { Selectable } from 'kysely';
import type { CommissionPayer, SettlementModel } from './account-tables.ts';
import type { BaseUnits, Cents, Defaulted, Json } from './column-types.ts';

export type PaymentFlow = 'crypto' | 'regulated';
export type PaymentStatus = 'pending' | 'successful' | 'unsuccessful' | 'expired' | 'cancelled';
export type SessionStatus = 'pending' | 'cancelled' | 'expired' | 'completed';

export interface PaymentsTable {
  id: string;
  merchant_id: string;
  branch_id: string;
  partner_id: string | null;
  created_by: string;
  flow: PaymentFlow;
  amount: Cents;
  commission_amount: Cents | null;
  commission_bps: number;
  commission_payer: CommissionPayer;
  settlement_model: SettlementModel | null;
  status: Defaulted<PaymentStatus>;
  session_status: Defaulted<SessionStatus>;
  offered_blockchain_ids: string[];
  blockchain_id: string | null;
  address: string | null;
  token_amount: BaseUnits | null;
  token_decimals: number | null;
  transaction_hash: string | null;
  paid_at: Date | null;
  expires_at: Date;
  created_at: Date;
  redirect_url: string | null;
  customer_reference_id: string | null;
  note: string | null;
  cancellation_reason: string | null;
  last_error_code: string | null;
  last_error_message: string | null;
  last_error_at: Date | null;
  processor: string | null;
  external_id: string | null;
  checkout_token_hash: Buffer | null;
  /** Whether choosing a network leaves `expires_at` as it is. */
  expiry_fixed: Defaulted<boolean>;
  /** When a US account's processor is asked about the payment; null on chain. */
  inquire_at: Date | null;
  /** Until when the price is held; null if it is held, or was not chosen, until `expires_at`. */
  quoted_until: Date | null;
  /** When the price was fixed; null before a network is chosen. */
  quoted_at: Defaulted<Date | null>;
}

export interface PaymentTransitionsTable {
  id: string;
  payment_id: string;
  from_status: PaymentStatus;
  from_session_status: SessionStatus;
  to_status: PaymentStatus;
  to_session_status: SessionStatus;
  at: Date;
  actor: string;
  reason: string;
}

interface EventsTable {
  id: string;
  merchant_id: string;
  /** null for an event of a deposit that no payment took. */
  payment_id: string | null;
  type: string;
  created_at: Date;
  data: Json;
  /** Headers of W3C Trace Context that deliveries carry; null without a trace. */
  traceparent: string | null;
  tracestate: string | null;
}

interface IdempotencyKeysTable {
  account_id: string;
  route: string;
  key: string;
  body_sha256: Buffer;
  /** null in a sealed response, which contains it. */
  status: number | null;
  body: Buffer;
  /** null in a response that is not sealed. */
  master_key_version: number | null;
  created_at: Date;
  expires_at: Date;
}

/** Payments and what happened to them. */
/** Has a row while payments of live merchants may be simulated too; triggers read it. */
interface SimulatedServicesTable {
  /** Always true, so that there is at most one row. */
  one: Defaulted<true>;
  since: Date;
}

export interface PaymentTables {
  simulated_services: SimulatedServicesTable;
  payments: PaymentsTable;
  payment_transitions: PaymentTransitionsTable;
  events: EventsTable;
  idempotency_keys: IdempotencyKeysTable;
}

export type Payment = Selectable<PaymentsTable>;
export type PaymentTransition = Selectable<PaymentTransitionsTable>;
