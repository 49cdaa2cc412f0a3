import type { ColumnType, Generated, Selectable } from 'kysely';
import type { PeopleTables } from './people-tables.ts';
import type { WatchingTables } from './watching-tables.ts';

/** bigint column: a JavaScript number while it is a safe integer, which the driver checks. */
type Cents = number;
/** numeric(78,0) column: read as decimal text, written as bigint or text. */
type BaseUnits = ColumnType<string, bigint | string, bigint | string>;
type Defaulted<T> = ColumnType<T, T | undefined, T>;
/** Column that keeps the exact JSON text it was given. */
type Json = ColumnType<unknown, string, never>;

export type ActiveStatus = 'active' | 'inactive';
export type AccountKind = 'standard' | 'us';
export type OnboardingStatus = 'pending' | 'approved' | 'rejected';
export type SettlementModel = 'split' | 'direct';
export type CommissionPayer = 'merchant' | 'shopper';
export type PartnerRole = 'owner' | 'developer';
export type UserRole = 'admin' | 'member';
export type PaymentFlow = 'crypto' | 'regulated';
export type PaymentStatus = 'pending' | 'successful' | 'unsuccessful' | 'expired' | 'cancelled';
export type SessionStatus = 'pending' | 'cancelled' | 'expired' | 'completed';
export type NetworkFamily = 'bitcoin' | 'ethereum' | 'bnb' | 'avalanche' | 'solana' | 'tron';
export type NetworkEnvironment = 'production' | 'test';
/**
 * What tells of transfers on a network: verified nodes of its chain; the simulator, where the chain has
 * no node and the process simulates; nobody, where the chain has nodes that do not suffice for the
 * network.
 */
export type SettledBy = 'simulation' | 'chain' | 'nobody';

export interface NetworksTable {
  id: string;
  position: number;
  name: string;
  family: NetworkFamily;
  environment: NetworkEnvironment;
  asset_symbol: string;
  asset_name: string;
  asset_decimals: number;
  window_minutes: number;
  is_active: boolean;
  /** When an operator last switched it on or off; null for one that is as it was shipped. */
  switched_at: Date | null;
  /** The chain that carries it. */
  chain: string;
  /** The token's contract; null for a native asset, and for a test token that has none configured. */
  contract: string | null;
  /** When its transfers are final; null for the chain's default rule. */
  finality: string | null;
  settled_by: Defaulted<SettledBy>;
  /** URL of a transaction's page, with `{hash}` in place of its hash; null for none. */
  explorer: string | null;
}

export interface PartnersTable {
  id: string;
  name: string;
  status: Defaulted<ActiveStatus>;
  self_service_api_payments: Defaulted<boolean>;
  created_at: Date;
}

export interface PartnerMembersTable {
  id: string;
  partner_id: string;
  name: string;
  email: string;
  role: PartnerRole;
  status: Defaulted<ActiveStatus>;
  /** Who signs in as it; null for nobody yet. */
  person_id: Defaulted<string | null>;
  created_at: Date;
}

export interface MerchantsTable {
  id: string;
  partner_id: string | null;
  name: string;
  email: string;
  status: Defaulted<ActiveStatus>;
  account_kind: AccountKind;
  onboarding_status: OnboardingStatus;
  /** null while it is what it was at creation. */
  onboarding_changed_at: Defaulted<Date | null>;
  settlement_model: SettlementModel;
  commission_payer: CommissionPayer;
  commission_bps: number;
  /** How much too little still settles a payment, in basis points of what it asks for. */
  underpayment_tolerance_bps: Defaulted<number>;
  /** Whom payers are told to contact: an e-mail address or an https URL; null for nobody. */
  support_contact: Defaulted<string | null>;
  /** Accent colour of the checkout, as `#rrggbb`; null for the service's own. */
  accent_color: Defaulted<string | null>;
  /** Whether payers see the note of a payment. */
  shows_note: Defaulted<boolean>;
  created_at: Date;
}

export interface MerchantLogosTable {
  merchant_id: string;
  /** SHA-256 of the content in hex, under which it is served. */
  hash: string;
  type: string;
  content: Buffer;
}

export interface BranchesTable {
  id: string;
  merchant_id: string;
  name: string;
  is_main: Defaulted<boolean>;
  created_at: Date;
}

export interface DepositAddressesTable {
  branch_id: string;
  blockchain_id: string;
  address: string;
  updated_at: Date;
}

export interface RedirectDomainsTable {
  merchant_id: string;
  domain: string;
  created_at: Date;
}

export interface MerchantUsersTable {
  id: string;
  merchant_id: string;
  name: string;
  email: string;
  role: UserRole;
  status: Defaulted<ActiveStatus>;
  /** Set together with the two columns below, or null like them. */
  client_id: string | null;
  api_key_hash: Buffer | null;
  master_key_version: number | null;
  /** Who signs in as it; null for nobody yet. */
  person_id: Defaulted<string | null>;
  created_at: Date;
}

/** Where a change was made. */
export type ChangeOrigin = 'panel' | 'cli' | 'worker' | 'demo';

export interface AuditLogTable {
  id: string;
  at: Date;
  actor: string;
  action: string;
  object_type: string;
  object_id: string;
  detail: Json;
  /** The merchant or partner in whose panel it was made; null elsewhere. */
  account_id: Defaulted<string | null>;
  person_id: Defaulted<string | null>;
  /** null in rows of older releases. */
  origin: Defaulted<ChangeOrigin | null>;
  /** The client's IP address; null outside the panel. */
  address: Defaulted<string | null>;
}

export interface ApiKeysTable {
  id: string;
  merchant_id: string | null;
  partner_member_id: string | null;
  name: string;
  scopes: string[];
  secret: Buffer | null;
  passphrase_hash: Buffer;
  master_key_version: number;
  /** Version of the passphrase's hash; null where it is that of the secret. */
  passphrase_key_version: Defaulted<number | null>;
  previous_secret: Buffer | null;
  previous_passphrase_hash: Buffer | null;
  previous_master_key_version: number | null;
  previous_passphrase_key_version: Defaulted<number | null>;
  previous_valid_until: Date | null;
  expires_at: Date | null;
  revoked_at: Date | null;
  rotated_at: Date | null;
  created_at: Date;
}

/** What a key was last used for, beside it so that its row is not written again and again. */
export interface ApiKeyUsageTable {
  key_id: string;
  last_used_at: Date;
  address: string;
  /** The last error that it was answered with, and when; null without one. */
  last_error: string | null;
  last_error_at: Date | null;
}

/** Addresses that a merchant has ever had. */
export interface AccountAddressesTable {
  blockchain_id: string;
  address: string;
  merchant_id: string;
}

export interface MasterKeysTable {
  /** Check value of the key. */
  version: number;
  created_at: Date;
}

export interface NoncesTable {
  key_id: string;
  nonce: string;
  expires_at: Date;
}

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

export interface EventsTable {
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

export interface IdempotencyKeysTable {
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

/** UTC calendar day, YYYY-MM-DD. */
type Day = string;

export interface PartnerDeltasTable {
  id: Generated<number>;
  partner_id: string;
  merchant_id: string;
  status: PaymentStatus;
  /** Empty while no network is chosen. */
  blockchain_id: string;
  /** Empty while no address is shown. */
  address: string;
  created_day: Day;
  paid_day: Day | null;
  payments: number;
  cents: Cents;
}

export interface PartnerTotalsTable {
  partner_id: string;
  merchant_id: string;
  status: PaymentStatus;
  blockchain_id: string;
  address: string;
  payments: number;
  cents: Cents;
}

export interface PartnerCreatedDaysTable {
  partner_id: string;
  day: Day;
  payments: number;
}

export interface PartnerPaidDaysTable {
  partner_id: string;
  merchant_id: string;
  day: Day;
  payments: number;
  cents: Cents;
}

export interface PartnerCommissionDeltasTable {
  id: Generated<number>;
  partner_id: string;
  merchant_id: string;
  cents: Cents;
}

export interface PartnerCommissionsTable {
  partner_id: string;
  merchant_id: string;
  /** Commission on successful payments. */
  cents: Cents;
}

export interface ReservationsTable {
  id: Generated<number>;
  payment_id: string;
  blockchain_id: string;
  address: string;
  token_amount: BaseUnits;
  reserved_at: Date;
  released_at: Date | null;
  /** The deposit of too little that this amount completes; null for the whole amount. */
  rest_of: Defaulted<string | null>;
}

export type DepositState = 'seen' | 'final' | 'reversed' | 'failed';
/** Who told of a deposit: a watcher or the simulator. */
export type DepositSource = 'chain' | 'simulation';
export type DepositOutcome =
  | 'exact'
  | 'over'
  | 'tolerated'
  | 'under'
  | 'rest'
  | 'late'
  | 'duplicate'
  | 'ambiguous'
  | 'unknown'
  | 'assigned';

export interface DepositsTable {
  id: string;
  blockchain_id: string;
  transaction_hash: string;
  /** Log index, output or instruction within the transaction. */
  position: number;
  address: string;
  token_amount: BaseUnits;
  block_height: number | null;
  state: DepositState;
  outcome: DepositOutcome;
  payment_id: string | null;
  dismissed_at: Date | null;
  observed_at: Date;
  updated_at: Date;
  /** null in a mempool, and for a simulated transfer. */
  block_hash: string | null;
  /** When it happened, as far as matching is concerned; null in rows of older releases. */
  occurred_at: Date | null;
  /** When it happened at the earliest; null in rows of older releases. */
  earliest_at: Date | null;
  source: Defaulted<DepositSource>;
  /** Outputs that the transaction spends, as `hash:index` (Bitcoin); null elsewhere. */
  inputs: string[] | null;
}

/** What a node answered about a transaction when its deposits became final. */
export interface TransactionAnswersTable {
  blockchain_id: string;
  transaction_hash: string;
  /** Label of the node. */
  node: string;
  /** JSON list of methods and results. */
  answers: string;
  recorded_at: Date;
}

/** Ed25519 keys that sign evidence; the newest one signs. */
export interface EvidenceKeysTable {
  id: string;
  /** 32 bytes. */
  public_key: Buffer;
  /** PKCS #8 in PEM, sealed. */
  private_key: Buffer;
  master_key_version: number;
  created_at: Date;
}

export interface WebhookEndpointsTable {
  id: string;
  merchant_id: string;
  url: string;
  /** null for every type. */
  types: string[] | null;
  secret: Buffer;
  master_key_version: number;
  previous_secret: Buffer | null;
  previous_master_key_version: number | null;
  previous_valid_until: Date | null;
  disabled_at: Date | null;
  disabled_reason: string | null;
  created_at: Date;
}

export type DeliveryStatus = 'pending' | 'succeeded' | 'failed' | 'cancelled';

export interface WebhookDeliveriesTable {
  id: string;
  event_id: string;
  endpoint_id: string;
  /** The delivery that this one repeats by hand. */
  redelivery_of: string | null;
  status: Defaulted<DeliveryStatus>;
  attempts: Defaulted<number>;
  next_attempt_at: Date | null;
  /** Until when a worker that attempts it now is taken to be alive. */
  claimed_until: Date | null;
  created_at: Date;
  finished_at: Date | null;
}

export interface WebhookAttemptsTable {
  id: string;
  delivery_id: string;
  number: number;
  at: Date;
  duration_ms: number;
  status_code: number | null;
  error: string | null;
  response_excerpt: string | null;
}

export interface LegacyUsageTable {
  merchant_id: string;
  day: Day;
  /** Method and path of the route, as in `GET /external/payments/prompt/:id`. */
  route: string;
  requests: number;
}

/** Every table of the service, as Kysely sees it. */
export interface Tables extends WatchingTables, PeopleTables {
  networks: NetworksTable;
  partners: PartnersTable;
  partner_members: PartnerMembersTable;
  merchants: MerchantsTable;
  merchant_logos: MerchantLogosTable;
  branches: BranchesTable;
  deposit_addresses: DepositAddressesTable;
  redirect_domains: RedirectDomainsTable;
  merchant_users: MerchantUsersTable;
  audit_log: AuditLogTable;
  api_keys: ApiKeysTable;
  api_key_usage: ApiKeyUsageTable;
  account_addresses: AccountAddressesTable;
  master_keys: MasterKeysTable;
  nonces: NoncesTable;
  payments: PaymentsTable;
  payment_transitions: PaymentTransitionsTable;
  events: EventsTable;
  idempotency_keys: IdempotencyKeysTable;
  partner_deltas: PartnerDeltasTable;
  partner_totals: PartnerTotalsTable;
  partner_created_days: PartnerCreatedDaysTable;
  partner_paid_days: PartnerPaidDaysTable;
  partner_commission_deltas: PartnerCommissionDeltasTable;
  partner_commissions: PartnerCommissionsTable;
  reservations: ReservationsTable;
  deposits: DepositsTable;
  transaction_answers: TransactionAnswersTable;
  evidence_keys: EvidenceKeysTable;
  webhook_endpoints: WebhookEndpointsTable;
  webhook_deliveries: WebhookDeliveriesTable;
  webhook_attempts: WebhookAttemptsTable;
  legacy_usage: LegacyUsageTable;
}

export type Network = Selectable<NetworksTable>;
export type Partner = Selectable<PartnersTable>;
export type PartnerMember = Selectable<PartnerMembersTable>;
export type Merchant = Selectable<MerchantsTable>;
export type MerchantUser = Selectable<MerchantUsersTable>;
export type Branch = Selectable<BranchesTable>;
export type AuditLogEntry = Selectable<AuditLogTable>;
export type ApiKey = Selectable<ApiKeysTable>;
export type Payment = Selectable<PaymentsTable>;
export type PaymentTransition = Selectable<PaymentTransitionsTable>;
export type Deposit = Selectable<DepositsTable>;
export type TransactionAnswers = Selectable<TransactionAnswersTable>;
export type EvidenceKey = Selectable<EvidenceKeysTable>;
export type WebhookEndpoint = Selectable<WebhookEndpointsTable>;
export type WebhookDelivery = Selectable<WebhookDeliveriesTable>;
export type WebhookAttempt = Selectable<WebhookAttemptsTable>;
