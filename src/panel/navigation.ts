import type { Membership } from '../repositories/people/memberships.ts';
import { isAllowed, type Permission } from './access/permissions.ts';
import { PANEL_PREFIX } from './assets.ts';

export interface PanelLink {
  readonly href: string;
  readonly text: string;
}

interface Entry {
  readonly path: string;
  readonly text: string;
  readonly permission: Permission;
}

/** Pages of an account, below its path, in the order of the menu. */
const PAGES: Readonly<Record<Membership['kind'], readonly Entry[]>> = {
  merchant: [
    { path: '', text: 'Home', permission: 'home.read' },
    { path: '/payments', text: 'Payments', permission: 'payments.read' },
    { path: '/unmatched', text: 'Unmatched', permission: 'deposits.read' },
    { path: '/settings/developer/keys', text: 'API keys', permission: 'keys.read' },
  ],
  partner: [
    { path: '', text: 'Overview', permission: 'overview.read' },
    { path: '/merchants', text: 'Merchants', permission: 'merchants.read' },
    { path: '/payments', text: 'Payments', permission: 'payments.read' },
    { path: '/team', text: 'Team', permission: 'team.read' },
    { path: '/settings', text: 'Settings', permission: 'self-service.read' },
    { path: '/developer/keys', text: 'API keys', permission: 'keys.read' },
  ],
};

/** Path of an account's first page, without the base path. */
export function accountPath({ kind, accountId }: Pick<Membership, 'kind' | 'accountId'>): string {
  return `${PANEL_PREFIX}/${kind}s/${accountId}`;
}

/** Links to the pages of an account that a role may see. */
export function accountLinks(membership: Membership): PanelLink[] {
  return PAGES[membership.kind]
    .filter(({ permission }) => isAllowed(membership.role, permission))
    .map(({ path, text }) => ({ href: accountPath(membership) + path, text }));
}
