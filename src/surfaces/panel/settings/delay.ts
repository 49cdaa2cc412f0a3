import type { Delay } from '#accounts/address-changes.ts';
import type { PanelTexts } from '../texts/panel-texts.ts';

const HOUR_MS = 60 * 60_000;

/** When a change would take effect, in words. */
export function renderDelay({ changes }: PanelTexts, { waitsMs, needsApproval }: Delay): string {
  if (needsApproval) return changes.untilApproved;
  return waitsMs === 0 ? changes.atOnce : changes.delay(waitsMs / HOUR_MS);
}

/** Whether a change takes effect as soon as it is proposed. */
export function isAtOnce({ waitsMs, needsApproval }: Delay): boolean {
  return waitsMs === 0 && !needsApproval;
}
