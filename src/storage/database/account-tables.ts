import type { Selectable } from 'kysely';
import type { Defaulted, Json } from './column-types.ts';
import type { NetworkEnvironment } from './network-tables.ts';
import type { ChainFamily } from './watching-tables.ts';

export type ActiveStatus = 'active' | 'inactive';
export type AccountKind = 'standard' | 'us';
export type MerchantEnvironment = 'test' | 'live';
export type OnboardingStatus = 'pending' | 'approved' | 'rejected';
export type SettlementModel = 'split' | 'direct';
export type CommissionPayer = 'merchant' | 'shopper';
export type PartnerRole = 'owner' | 'developer';
export type UserRole = 'admin' | 'member';

interface PartnersTable {
  id: string;
  name: string;
  status: Defaulted<ActiveStatus>;
  self_service_api_payments: Defaulted<boolean>;
  created_at: Date;
}

interface MemberColumns {
  id: string;
  name: string;
  email: string;
  status: Defaulted<ActiveStatus>;
  /** The person who signs in as this member; null while there is none. */
  person_id: Defaulted<string | null>;
  created_at: Date;
}

interface PartnerMembersTable extends MemberColumns {
  partner_id: string;
  role: PartnerRole;
}

interface MerchantsTable {
  id: string;
  partner_id: string | null;
  name: string;
  email: string;
  status: Defaulted<ActiveStatus>;
  account_kind: AccountKind;
  /** Whether it takes real money; never changes. */
  environment: Defaulted<MerchantEnvironment>;
  /** The live merchant whose test twin it is; null for all others. */
  test_of: Defaulted<string | null>;
  onboarding_status: OnboardingStatus;
  /** null while `onboarding_status` is as it was at creation. */
  onboarding_changed_at: Defaulted<Date | null>;
  settlement_model: SettlementModel;
  commission_payer: CommissionPayer;
  commission_bps: number;
  /** Largest shortfall that still settles a payment, in basis points of the amount it asks for. */
  underpayment_tolerance_bps: Defaulted<number>;
  /** Shown to payers as the contact: an e-mail address or an https URL; null for none. */
  support_contact: Defaulted<string | null>;
  /** Accent colour of the checkout, as `#rrggbb`; null for the service's own. */
  accent_color: Defaulted<string | null>;
  /** Whether payers see the note of a payment. */
  shows_note: Defaulted<boolean>;
  /** Whether every change that its admins make to where money goes needs a second admin. */
  needs_second_admin: Defaulted<boolean>;
  created_at: Date;
}

export interface MerchantLogosTable {
  merchant_id: string;
  /** SHA-256 of the content in hex, under which it is served. */
  hash: string;
  type: string;
  content: Buffer;
}

interface BranchesTable {
  id: string;
  merchant_id: string;
  name: string;
  is_main: Defaulted<boolean>;
  created_at: Date;
}

interface DepositAddressesTable {
  branch_id: string;
  blockchain_id: string;
  /** Of a wallet, its first address to be used. */
  address: string;
  updated_at: Date;
  /** The wallet from which an address is taken for each payment; null for a static address. */
  wallet_id: Defaulted<string | null>;
}

/** Periods in which a merchant had an address. Deposits in one that no other merchant had are the merchant's. */
interface AccountAddressesTable {
  blockchain_id: string;
  address: string;
  merchant_id: string;
  since: Defaulted<Date>;
  until: Defaulted<Date>;
  /** Whether deposits may wait there: false for a derived address where none ever did. */
  may_wait: Defaulted<boolean>;
}

/**
 * The holders of an address, on all chains of its family: the one merchant that it belongs to, and others that an
 * operator has admitted. Triggers write it too; see the migration.
 */
export interface AddressHoldersTable {
  family: ChainFamily;
  environment: NetworkEnvironment;
  address: string;
  merchant_id: string;
  /** The merchant beside which an operator admitted this one; null for the merchant that the address belongs to. */
  shared_with: Defaulted<string | null>;
  held_since: Date;
  /** Since when the address is neither in force nor proposed; null while it is. */
  left_at: Defaulted<Date | null>;
}

/** A change of where money goes; the last kind makes a second admin unnecessary. */
export type AddressChangeKind =
  | 'address.set'
  | 'address.add'
  | 'branch.main'
  | 'merchant.one-admin';

interface AddressChangesTable {
  id: string;
  merchant_id: string;
  kind: AddressChangeKind;
  /** null for `merchant.one-admin` alone. */
  branch_id: string | null;
  /** Set for addresses, like `address`. */
  blockchain_id: string | null;
  address: string | null;
  /** The wallet that the address is the first one of; null for a static address. */
  wallet_id: Defaulted<string | null>;
  /** What was in force when it was proposed: the addresses, or the ID of the main branch if there was one. */
  former: string[];
  /** Name in the audit log. */
  proposed_by: string;
  /** null for an operator's. */
  person_id: string | null;
  proposed_at: Date;
  /** When the change takes effect without an approval, unless it needs one. */
  effective_at: Date;
  needs_approval: boolean;
  approved_by: Defaulted<string | null>;
  /** null while it is open. */
  outcome: Defaulted<'applied' | 'cancelled' | 'lapsed' | null>;
  ended_at: Defaulted<Date | null>;
}

/** Kinds of Bitcoin addresses that one key has: P2PKH, P2SH-P2WPKH, P2WPKH and P2TR, as descriptors name them. */
export type WalletKind = 'pkh' | 'sh-wpkh' | 'wpkh' | 'tr';

/** A Bitcoin wallet's public key, and the merchant that it belongs to. */
interface WalletsTable {
  id: string;
  merchant_id: string;
  /** `btc` or `btc-test`. */
  blockchain_id: string;
  kind: WalletKind;
  /** What bech32 addresses begin with. */
  prefix: 'bc' | 'tb' | 'bcrt';
  /** Of the key as it was given, 8 hexadecimal digits. */
  fingerprint: string;
  /** The same for every spelling of the key; see `walletDigest`. */
  digest: string;
  /** The parent of the receiving addresses as an xpub, sealed and bound to the ID. */
  key: Buffer;
  master_key_version: number;
  /** Of the address that was the wallet's next unused one: quotes begin there. */
  first_index: number;
  created_at: Date;
  /** Since when no branch has it, or waits for it; null while one does. */
  left_at: Defaulted<Date | null>;
  /** When another merchant was allowed to have the key; null while it belongs to this one. */
  released_at: Defaulted<Date | null>;
}

/** Addresses of a wallet: those that were asked for, and the next ones. A trigger notes what arrives. */
interface WalletAddressesTable {
  wallet_id: string;
  index: number;
  blockchain_id: string;
  address: string;
  /** When the first transfer was seen; null for none. */
  received_at: Defaulted<Date | null>;
  /** Whether a transfer was in a block, so that wallets count the address as used. */
  is_funded: Defaulted<boolean>;
}

interface RedirectDomainsTable {
  merchant_id: string;
  domain: string;
  created_at: Date;
}

interface MerchantUsersTable extends MemberColumns {
  merchant_id: string;
  role: UserRole;
  /** Since when role, status and person are unchanged. */
  standing_since: Defaulted<Date>;
  /** Set together with the two columns below, or null like them. */
  client_id: string | null;
  api_key_hash: Buffer | null;
  master_key_version: number | null;
}

/** Where a change was made. */
export type ChangeOrigin = 'panel' | 'cli' | 'worker' | 'demo' | 'api' | 'checkout';

interface AuditLogTable {
  id: string;
  at: Date;
  actor: string;
  action: string;
  object_type: string;
  object_id: string;
  detail: Json;
  /** The merchant or partner that it concerns; null if it concerns none or several. */
  account_id: Defaulted<string | null>;
  person_id: Defaulted<string | null>;
  /** null in rows of older releases. */
  origin: Defaulted<ChangeOrigin | null>;
  /** The client's IP address; null outside panel and API. */
  address: Defaulted<string | null>;
}

/** Merchants and partners, who acts for them, and the log of changes. */
export interface AccountTables {
  partners: PartnersTable;
  partner_members: PartnerMembersTable;
  merchants: MerchantsTable;
  merchant_logos: MerchantLogosTable;
  branches: BranchesTable;
  deposit_addresses: DepositAddressesTable;
  account_addresses: AccountAddressesTable;
  address_holders: AddressHoldersTable;
  address_changes: AddressChangesTable;
  wallets: WalletsTable;
  wallet_addresses: WalletAddressesTable;
  redirect_domains: RedirectDomainsTable;
  merchant_users: MerchantUsersTable;
  audit_log: AuditLogTable;
}

export type Partner = Selectable<PartnersTable>;
export type PartnerMember = Selectable<PartnerMembersTable>;
export type Merchant = Selectable<MerchantsTable>;
export type Branch = Selectable<BranchesTable>;
export type AddressChange = Selectable<AddressChangesTable>;
export type Wallet = Selectable<WalletsTable>;
export type MerchantUser = Selectable<MerchantUsersTable>;
export type AuditLogEntry = Selectable<AuditLogTable>;
