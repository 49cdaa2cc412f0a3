import { DatabaseTooSlow } from '../../database/errors.ts';
import { WORK_TIMEOUT_MS } from '../../database/time-limits.ts';
import { within } from '../../time/within.ts';
import type { SignedApp } from '../signed-app.ts';
import { registerPartnerAccount } from './account.ts';
import type { PartnerDependencies } from './dependencies.ts';
import { registerPartnerMerchants } from './merchants.ts';
import { registerPartnerPayments } from './payments.ts';

/** Prefix of the partner reports; part of every signed path. */
export const PARTNER_PREFIX = '/external/partner';

/** Registers the reports. Each takes several statements, and is given up when all of them take too long. */
export function registerPartnerRoutes(app: SignedApp, deps: PartnerDependencies): void {
  app.addHook('onRoute', route => {
    const { handler } = route;
    route.handler = function (request, reply) {
      const report = Promise.resolve(handler.call(this, request, reply));
      return within(WORK_TIMEOUT_MS, report, () => new DatabaseTooSlow());
    };
  });
  registerPartnerAccount(app, deps);
  registerPartnerMerchants(app, deps);
  registerPartnerPayments(app, deps);
}
