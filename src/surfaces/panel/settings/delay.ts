import type { Delay } from '#accounts/address-changes.ts';
import { texts } from '../texts/index.ts';

const HOUR_MS = 60 * 60_000;

/** When a change would take effect, in words. */
export function renderDelay({ waitsMs, needsApproval }: Delay): string {
  const { changes } = texts;
  if (needsApproval) return changes.untilApproved;
  return waitsMs === 0 ? changes.atOnce : changes.delay(waitsMs / HOUR_MS);
}
