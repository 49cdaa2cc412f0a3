import type { TypedApp } from '#http/typed-app.ts';
import type { PanelDependencies } from '../hooks/dependencies.ts';
import type { Exports } from '../kit/exports.ts';
import { registerCommission } from './commission.ts';
import { registerMerchants } from './merchants.ts';
import { registerPartnerPayments } from './payments.ts';
import { registerSelfService } from './self-service.ts';

/** What a partner sees of its merchants, by the same reports as in the API, and whether they may use keys. */
export function registerPartner(app: TypedApp, deps: PanelDependencies, exports: Exports): void {
  registerMerchants(app, deps);
  registerPartnerPayments(app, deps, exports);
  registerCommission(app, deps, exports);
  registerSelfService(app, deps);
}
