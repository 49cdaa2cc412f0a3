import type { TypedApp } from '#http/typed-app.ts';
import type { PanelDependencies } from '../hooks/dependencies.ts';
import { registerPutAside } from './attention-list.ts';
import { registerMerchantHome } from './merchant.ts';
import { registerOverview } from './overview.ts';

/** The first page of each account, and what may be put aside there. */
export function registerHome(app: TypedApp, deps: PanelDependencies): void {
  registerMerchantHome(app, deps);
  registerOverview(app, deps);
  registerPutAside(app, deps);
}
