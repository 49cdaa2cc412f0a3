import type { Principal } from '#accounts/keys/principal.ts';
import { ApiError } from '#errors/api-error.ts';
import type { Connection } from '#storage/database/connection.ts';
import type { FreshCache } from '#storage/database/fresh-cache.ts';
import {
  findMerchantSetup,
  type MerchantSetup,
} from '#storage/repositories/accounts/merchant-setup.ts';

/** Reads merchants' setups, and caches them until they change. */
export interface PayeeDependencies {
  readonly db: Connection;
  readonly setups: FreshCache<MerchantSetup>;
}

/** A merchant that can receive payments. */
export interface Payee extends MerchantSetup {
  readonly mainBranchId: string;
}

/** E1030 for a merchant without a main branch, on which payments are created. */
export class MainBranchMissing extends ApiError {
  constructor() {
    super('E1030', 'The merchant has no main branch.');
  }
}

/**
 * Refuses a `merchantId` that does not go with the kind of key.
 * @throws ApiError E1001
 */
export function checkMerchantId(principal: Principal, merchantId: string | undefined): void {
  if (principal.kind === 'merchant' && merchantId !== undefined) {
    throw new ApiError('E1001', 'merchantId is only accepted from partner keys.', {
      param: 'merchantId',
    });
  }
  if (principal.kind === 'partner' && merchantId === undefined) {
    throw new ApiError('E1001', 'merchantId is required for partner keys.', {
      param: 'merchantId',
    });
  }
}

/**
 * The merchant that a payment is created for: the key's own, or the one that a partner names.
 * @throws ApiError E3001 for a merchant that is not the partner's, E2008 for an inactive one, E2102
 * for a US merchant that is not approved and E1030 without a main branch.
 */
export async function findPayee(
  deps: PayeeDependencies,
  principal: Principal,
  merchantId: string | undefined,
): Promise<Payee> {
  const setup = await readSetup(deps, merchantId ?? principal.accountId);
  const merchant = setup?.merchant;
  if (principal.kind === 'partner' && merchant?.partner_id !== principal.accountId) {
    throw new ApiError('E3001', 'There is no such merchant.', { param: 'merchantId' });
  }
  if (setup === undefined || merchant === undefined || merchant.status !== 'active') {
    throw new ApiError('E2008', 'The merchant is inactive.');
  }
  if (merchant.account_kind === 'us' && merchant.onboarding_status !== 'approved') {
    throw new ApiError('E2102');
  }
  const { mainBranchId } = setup;
  if (mainBranchId === null) throw new MainBranchMissing();
  return { ...setup, mainBranchId };
}

function readSetup({ db, setups }: PayeeDependencies, merchantId: string) {
  return setups.read(merchantId, async () => {
    const setup = await findMerchantSetup(db, merchantId);
    if (setup === undefined) return undefined;
    const subjects = [setup.merchant.id, setup.mainBranchId].filter(id => id !== null);
    return { value: setup, subjects };
  });
}
