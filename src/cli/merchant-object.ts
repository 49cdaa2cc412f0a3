import type { Connection } from '../database/connection.ts';
import type { Branch, Merchant } from '../database/tables.ts';
import { listDepositAddresses } from '../repositories/deposit-addresses.ts';
import { listBranches } from '../repositories/merchants.ts';
import { listRedirectDomains } from '../repositories/redirect-domains.ts';

/** A merchant as the command line shows it. */
export function merchantObject(merchant: Merchant) {
  return {
    id: merchant.id,
    partnerId: merchant.partner_id,
    name: merchant.name,
    email: merchant.email,
    status: merchant.status,
    accountKind: merchant.account_kind,
    onboardingStatus: merchant.onboarding_status,
    settlementModel: merchant.settlement_model,
    commissionPayer: merchant.commission_payer,
    commissionBps: merchant.commission_bps,
    createdAt: merchant.created_at,
  };
}

/** A branch as the command line shows it. */
export function branchObject(branch: Branch) {
  return {
    id: branch.id,
    merchantId: branch.merchant_id,
    name: branch.name,
    isMain: branch.is_main,
    createdAt: branch.created_at,
  };
}

/** A merchant with all that its payments are made from. */
export async function merchantWithBranches(db: Connection, merchant: Merchant) {
  const redirectDomains = await listRedirectDomains(db, merchant.id);
  const branches = [];
  for (const branch of await listBranches(db, merchant.id)) {
    const addresses = await listDepositAddresses(db, branch.id);
    branches.push({ id: branch.id, name: branch.name, isMain: branch.is_main, addresses });
  }
  return { ...merchantObject(merchant), redirectDomains, branches };
}
