import type { SignedApp } from '../signed-app.ts';
import { registerPartnerAccount } from './account.ts';
import type { PartnerDependencies } from './dependencies.ts';
import { registerPartnerMerchants } from './merchants.ts';
import { registerPartnerPayments } from './payments.ts';

/** Prefix of the partner reports; part of every signed path. */
export const PARTNER_PREFIX = '/external/partner';

export function registerPartnerRoutes(app: SignedApp, deps: PartnerDependencies): void {
  registerPartnerAccount(app, deps);
  registerPartnerMerchants(app, deps);
  registerPartnerPayments(app, deps);
}
