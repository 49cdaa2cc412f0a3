import type { TypedApp } from '#http/typed-app.ts';
import type { PanelDependencies } from '../hooks/dependencies.ts';
import { registerAddresses } from './addresses.ts';
import { registerBranches } from './branches.ts';
import { registerBusiness } from './business.ts';
import { registerChanges } from './changes.ts';
import { registerDomains } from './domains.ts';
import { registerSecondAdmin } from './second-admin.ts';

/** What a merchant's people set up by themselves. */
export function registerSettings(app: TypedApp, deps: PanelDependencies): void {
  registerBusiness(app, deps);
  registerBranches(app, deps);
  registerAddresses(app, deps);
  registerChanges(app, deps);
  registerDomains(app, deps);
  registerSecondAdmin(app, deps);
}
