import type { Membership } from '#storage/repositories/people/memberships.ts';

/** Where the pages of a team are, below an account's own path. */
export const TEAM_PATHS: Readonly<Record<Membership['kind'], string>> = {
  merchant: '/settings/team',
  partner: '/team',
};

/** Where the audit log of an account is. */
export const ACTIVITY_PATHS: Readonly<Record<Membership['kind'], string>> = {
  merchant: '/settings/activity',
  partner: '/activity',
};
