import { ApiError } from '#errors/api-error.ts';
import type { AccountKind, MerchantEnvironment } from '#storage/database/account-tables.ts';
import type { MerchantState } from '#storage/repositories/accounts/merchant-state.ts';
import type { KeyWithAccounts } from '#storage/repositories/keys/key-with-accounts.ts';
import { partnerScopes, type Scope } from './scopes.ts';

/** The sender of an authenticated request. */
export type Principal =
  | {
      readonly kind: 'merchant';
      readonly keyId: string;
      /** The account that idempotency keys are scoped to: the merchant. */
      readonly accountId: string;
      readonly accountKind: AccountKind;
      readonly environment: MerchantEnvironment;
    }
  | {
      readonly kind: 'partner';
      readonly keyId: string;
      /** The account that idempotency keys are scoped to: the partner. */
      readonly accountId: string;
    };

/** Which keys may use a route. */
export interface AccessRule {
  readonly principals: readonly Principal['kind'][];
  /** Whether only a test merchant may use the route. */
  readonly testOnly?: true;
  readonly scope: Scope;
}

/** E2008 for the key of a live merchant, on a route that only a test merchant may use. */
export class LiveMerchantRefused extends ApiError {
  readonly keyId: string;
  readonly merchantId: string;

  constructor(keyId: string, merchantId: string) {
    super(
      'E2008',
      'This route takes keys of test merchants: payments of a live one are never simulated.',
    );
    this.keyId = keyId;
    this.merchantId = merchantId;
  }
}

/**
 * Checks whether a verified key may use a route, given the current state of its accounts.
 * @throws ApiError E2008, E2102, E2103 or E2101, in this order.
 */
export function authorize(record: KeyWithAccounts, rule: AccessRule): Principal {
  return record.merchant === null
    ? authorizeMember(record, rule)
    : authorizeMerchant(record, record.merchant, rule);
}

function authorizeMerchant(
  { key }: KeyWithAccounts,
  merchant: MerchantState,
  rule: AccessRule,
): Principal {
  requireKind('merchant', rule);
  if (rule.testOnly && merchant.environment !== 'test') {
    throw new LiveMerchantRefused(key.id, merchant.id);
  }
  requireOwnAccess(merchant);
  requireScope(key.scopes, rule);
  return {
    kind: 'merchant',
    keyId: key.id,
    accountId: merchant.id,
    accountKind: merchant.accountKind,
    environment: merchant.environment,
  };
}

/**
 * Checks that a merchant may use the API with credentials of its own.
 * @throws ApiError E2008, E2102 or E2103, in this order.
 */
export function requireOwnAccess(merchant: MerchantState): void {
  if (merchant.status !== 'active') throw new ApiError('E2008', 'The merchant is inactive.');
  if (merchant.accountKind === 'us' && merchant.onboardingStatus !== 'approved') {
    throw new ApiError('E2102');
  }
  if (merchant.partner !== null) {
    const { status, selfServiceApiPayments } = merchant.partner;
    if (status !== 'active' || !selfServiceApiPayments) throw new ApiError('E2103');
  }
}

function authorizeMember({ key, member }: KeyWithAccounts, rule: AccessRule): Principal {
  requireKind('partner', rule);
  if (member === null || member.status !== 'active' || member.partner.status !== 'active') {
    throw new ApiError('E2008', 'The partner or its member is inactive.');
  }
  requireScope(partnerScopes(member.role), rule);
  return { kind: 'partner', keyId: key.id, accountId: member.partner.id };
}

function requireKind(kind: Principal['kind'], rule: AccessRule): void {
  if (!rule.principals.includes(kind)) {
    const accepted = rule.principals.map(each => `a ${each} key`).join(' or ');
    throw new ApiError('E2008', `This route takes ${accepted}; this is a ${kind} key.`);
  }
}

function requireScope(scopes: readonly string[], rule: AccessRule): void {
  if (!scopes.includes(rule.scope)) {
    throw new ApiError('E2101', `The key lacks the scope ${rule.scope}.`);
  }
}
