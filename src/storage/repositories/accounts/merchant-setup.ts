import { jsonArrayFrom } from 'kysely/helpers/postgres';
import type { Merchant } from '../../database/account-tables.ts';
import type { Connection } from '../../database/connection.ts';
import type { NetworkEnvironment, SettledBy } from '../../database/network-tables.ts';
import { type Given, prepare } from '../../database/prepared.ts';

/** A network that a branch has an address on. */
export interface ConfiguredNetwork {
  id: string;
  environment: NetworkEnvironment;
  windowMinutes: number;
  /** Whether an operator has the network switched on. */
  isActive: boolean;
  settledBy: SettledBy;
}

/** Columns of `networks` that make a `ConfiguredNetwork`. */
const CONFIGURED_NETWORK = [
  'networks.id',
  'networks.environment',
  'networks.window_minutes as windowMinutes',
  'networks.is_active as isActive',
  'networks.settled_by as settledBy',
] as const;

/** A merchant without the columns that only concern what payers see, or what its admins decide. */
export type PaidMerchant = Omit<
  Merchant,
  'support_contact' | 'accent_color' | 'shows_note' | 'needs_second_admin' | 'test_of'
>;

/** Everything about a merchant that the creation of a payment needs. */
export interface MerchantSetup {
  merchant: PaidMerchant;
  /** The main branch, which API payments belong to. */
  mainBranchId: string | null;
  /**
   * Networks that the main branch has an address on, in the order of the documentation (at most
   * 24).
   */
  networks: ConfiguredNetwork[];
  /** Allowed redirect domains (at most 20). */
  redirectDomains: string[];
}

/**
 * Listed by name: `select *` would invalidate the prepared statement when a migration adds a
 * column.
 */
const MERCHANT = [
  'merchants.id',
  'merchants.partner_id',
  'merchants.name',
  'merchants.email',
  'merchants.status',
  'merchants.account_kind',
  'merchants.environment',
  'merchants.onboarding_status',
  'merchants.onboarding_changed_at',
  'merchants.settlement_model',
  'merchants.commission_payer',
  'merchants.commission_bps',
  'merchants.underpayment_tolerance_bps',
  'merchants.created_at',
] as const satisfies readonly `merchants.${keyof PaidMerchant}`[];

const merchantSetup = prepare('merchant_setup', (db, given: Given<{ id: string }>) =>
  db
    .selectFrom('merchants')
    .leftJoin('branches', join =>
      join.onRef('branches.merchant_id', '=', 'merchants.id').on('branches.is_main', '=', true),
    )
    .select(MERCHANT)
    .select('branches.id as mainBranchId')
    .select(({ selectFrom }) => [
      jsonArrayFrom(
        selectFrom(
          selectFrom('deposit_addresses')
            .select('deposit_addresses.blockchain_id')
            .distinct()
            .whereRef('deposit_addresses.branch_id', '=', 'branches.id')
            .as('configured'),
        )
          .innerJoin('networks', 'networks.id', 'configured.blockchain_id')
          .select(CONFIGURED_NETWORK)
          .orderBy('networks.position'),
      ).as('networks'),
      jsonArrayFrom(
        selectFrom('redirect_domains')
          .select('domain')
          .whereRef('redirect_domains.merchant_id', '=', 'merchants.id')
          .orderBy('domain'),
      ).as('domains'),
    ])
    .where('merchants.id', '=', given('id')),
);

export async function findMerchantSetup(
  db: Connection,
  merchantId: string,
): Promise<MerchantSetup | undefined> {
  const [row] = await merchantSetup(db, { id: merchantId });
  if (row === undefined) return undefined;
  const { mainBranchId, networks, domains, ...merchant } = row;
  return { merchant, mainBranchId, networks, redirectDomains: domains.map(({ domain }) => domain) };
}
