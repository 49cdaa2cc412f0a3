import type { Membership } from '#storage/repositories/people/memberships.ts';
import { PANEL_PREFIX } from './assets.ts';

/** Where pages are that several others link to, below an account's own path. */
export const PLACES = {
  merchant: {
    team: '/settings/team',
    activity: '/settings/activity',
    developer: '/settings/developer',
  },
  partner: { team: '/team', activity: '/activity', developer: '/developer' },
} as const satisfies Record<Membership['kind'], Readonly<Record<string, string>>>;

/** Path, below the panel, at which an invitation continues after signing in for it. */
export const INVITATION = '/invitation';

/** A person's own page, without the base path. */
export const PROFILE = `${PANEL_PREFIX}/profile`;
