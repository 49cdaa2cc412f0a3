import type { ChangeFeed } from '../../src/database/change-feed.ts';
import type { LookUps } from '../../src/watching/look-up/look-ups.ts';

/** A feed without a lease: nothing is cached. */
export const NO_CHANGE_FEED: ChangeFeed = {
  isCurrent: () => false,
  renew: async () => false,
  generation: 0,
  onChange: () => undefined,
  close: async () => undefined,
};

/** Asks no chain. */
export const NO_LOOK_UPS: LookUps = {
  ask: async () => null,
  close: async () => undefined,
};
