import type {
  AccountKind,
  ActiveStatus,
  MerchantEnvironment,
  OnboardingStatus,
} from '../../database/account-tables.ts';

/** Everything about a merchant and its partner that authentication needs. */
export interface MerchantState {
  id: string;
  status: ActiveStatus;
  accountKind: AccountKind;
  environment: MerchantEnvironment;
  onboardingStatus: OnboardingStatus;
  partner: { id: string; status: ActiveStatus; selfServiceApiPayments: boolean } | null;
}

/** What `toMerchantState` reads of a merchant, joined with its partner as `owner`. */
export const MERCHANT_STATE = [
  'merchants.status as merchantStatus',
  'merchants.account_kind as accountKind',
  'merchants.environment as environment',
  'merchants.onboarding_status as onboardingStatus',
  'owner.id as ownerId',
  'owner.status as ownerStatus',
  'owner.self_service_api_payments as selfService',
] as const;

interface JoinedMerchant {
  merchantStatus: ActiveStatus;
  accountKind: AccountKind;
  environment: MerchantEnvironment;
  onboardingStatus: OnboardingStatus;
  /** The owner's columns are null for a merchant without a partner. */
  ownerId: string | null;
  ownerStatus: ActiveStatus | null;
  selfService: boolean | null;
}

/** @param row Joined with the merchant and its partner. */
export function toMerchantState(id: string, row: JoinedMerchant): MerchantState {
  return {
    id,
    status: row.merchantStatus,
    accountKind: row.accountKind,
    environment: row.environment,
    onboardingStatus: row.onboardingStatus,
    partner:
      row.ownerId !== null && row.ownerStatus !== null
        ? {
            id: row.ownerId,
            status: row.ownerStatus,
            selfServiceApiPayments: row.selfService === true,
          }
        : null,
  };
}
