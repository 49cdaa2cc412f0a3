import type { LookUps } from '#onchain/watching/look-up/look-ups.ts';
import type { ChangeFeed } from '#storage/database/change-feed.ts';

/** A feed without a lease: nothing is cached. */
export const NO_CHANGE_FEED: ChangeFeed = {
  isCurrent: () => false,
  renew: async () => false,
  generation: 0,
  onChange: () => undefined,
  close: async () => undefined,
};

/** Looks up nothing. */
export const NO_LOOK_UPS: LookUps = {
  ask: async () => null,
  close: async () => undefined,
};
