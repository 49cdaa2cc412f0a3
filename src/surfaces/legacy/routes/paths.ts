import { isBelow } from '#http/request-target.ts';
import { PARTNER_PREFIX } from '../../api/partner/index.ts';
import { V1_PREFIX } from '../../api/v1/index.ts';

/** Prefix of the older contract. V1_PREFIX and PARTNER_PREFIX below it belong to the current ones. */
export const LEGACY_PREFIX = '/external';

/** Whether errors for a request target have the format of the older contract. */
export function isLegacyPath(target: string): boolean {
  return (
    isBelow(LEGACY_PREFIX, target) &&
    !isBelow(V1_PREFIX, target) &&
    !isBelow(PARTNER_PREFIX, target)
  );
}
