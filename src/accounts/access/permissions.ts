import type { Membership } from '#storage/repositories/people/memberships.ts';

export type Role = Membership['role'];

/**
 * What may be done in an account, by which roles, and whether it requires a second factor given in the last
 * ten minutes (`recent`). Handlers check permissions, never roles.
 */
const PERMISSIONS = {
  'home.read': { roles: ['admin', 'member'] },
  'payments.read': { roles: ['admin', 'member', 'owner'] },
  'payments.export': { roles: ['admin', 'member', 'owner'] },
  'payments.evidence': { roles: ['admin', 'member'] },
  'payments.simulate': { roles: ['admin', 'member'] },
  'deposits.read': { roles: ['admin', 'member'] },
  'deposits.settle': { roles: ['admin'], recent: true },
  'settings.read': { roles: ['admin', 'member'] },
  'appearance.set': { roles: ['admin'], recent: true },
  'test-twin.make': { roles: ['admin'], recent: true },
  'domains.manage': { roles: ['admin'], recent: true },
  'branches.add': { roles: ['admin'], recent: true },
  // Their forms ask for a second factor themselves.
  'money.change': { roles: ['admin'] },
  'money.cancel': { roles: ['admin'] },
  'money.protect': { roles: ['admin'], recent: true },
  'team.read': { roles: ['admin', 'member', 'owner'] },
  // Its forms ask for a second factor themselves.
  'team.manage': { roles: ['admin', 'owner'] },
  'activity.read': { roles: ['admin', 'owner'] },
  'keys.read': { roles: ['admin', 'member', 'owner', 'developer'] },
  'keys.manage': { roles: ['admin', 'owner', 'developer'], recent: true },
  'webhooks.read': { roles: ['admin', 'member'] },
  // Paths and queries of URLs may hold secrets: they are shown only to those who may change them.
  'webhooks.manage': { roles: ['admin'], recent: true },
  'webhooks.redeliver': { roles: ['admin', 'member'] },
  'requests.read': { roles: ['admin', 'member', 'owner', 'developer'] },
  'signatures.explain': { roles: ['admin', 'member', 'owner', 'developer'] },
  'overview.read': { roles: ['owner', 'developer'] },
  'merchants.read': { roles: ['owner'] },
  'commission.read': { roles: ['owner'] },
  'commission.export': { roles: ['owner'] },
  'self-service.read': { roles: ['owner'] },
  'self-service.set': { roles: ['owner'], recent: true },
} as const satisfies Record<string, { roles: readonly Role[]; recent?: true }>;

export type Permission = keyof typeof PERMISSIONS;

/** Whether a role has a permission. */
export function isAllowed(role: Role, permission: Permission): boolean {
  const { roles }: { roles: readonly Role[] } = PERMISSIONS[permission];
  return roles.includes(role);
}

/** Whether a member may make a change now. An inactive account can be read, but not changed. */
export function isChangeAllowed({ role, status }: Membership, permission: Permission): boolean {
  return status === 'active' && isAllowed(role, permission);
}

/** Whether a permission requires a second factor given in the last ten minutes. */
export function needsRecentFactor(permission: Permission): boolean {
  return 'recent' in PERMISSIONS[permission];
}

/** The role that has every permission in an account of a kind. */
export function adminRoleOf(kind: Membership['kind']): Role {
  return kind === 'merchant' ? 'admin' : 'owner';
}
