import type { Membership } from '#storage/repositories/people/memberships.ts';

/** Where the pages for developers are, below an account's own path. */
export const DEVELOPER_PATHS: Readonly<Record<Membership['kind'], string>> = {
  merchant: '/settings/developer',
  partner: '/developer',
};
