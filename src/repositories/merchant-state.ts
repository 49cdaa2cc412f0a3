import type { AccountKind, ActiveStatus, OnboardingStatus } from '../database/tables.ts';

/** What authentication decides from about a merchant and the partner it is linked to. */
export interface MerchantState {
  id: string;
  status: ActiveStatus;
  accountKind: AccountKind;
  onboardingStatus: OnboardingStatus;
  partner: { id: string; status: ActiveStatus; selfServiceApiPayments: boolean } | null;
}

interface JoinedMerchant {
  merchantStatus: ActiveStatus;
  accountKind: AccountKind;
  onboardingStatus: OnboardingStatus;
  /** null, as the two below, for a merchant without a partner. */
  ownerId: string | null;
  ownerStatus: ActiveStatus | null;
  selfService: boolean | null;
}

/** The state out of a row that was joined with the merchant and its partner. */
export function toMerchantState(id: string, row: JoinedMerchant): MerchantState {
  return {
    id,
    status: row.merchantStatus,
    accountKind: row.accountKind,
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
