import { PARTNER_PREFIX } from '../partner/index.ts';
import { V1_PREFIX } from '../v1/index.ts';

/** Prefix of the older contract. V1_PREFIX and PARTNER_PREFIX below it belong to the current ones. */
export const LEGACY_PREFIX = '/external';

/** Scheme and authority of a request target in absolute form (RFC 9112, 3.2.2). */
const AUTHORITY = /^[a-z][a-z0-9+.-]*:\/\/[^/?#]*/i;

/** Whether errors for a request target have the format of the older contract. */
export function isLegacyPath(target: string): boolean {
  const [path = ''] = target.replace(AUTHORITY, '').split(/[?#]/);
  const below = (prefix: string) => path === prefix || path.startsWith(`${prefix}/`);
  return below(LEGACY_PREFIX) && !below(V1_PREFIX) && !below(PARTNER_PREFIX);
}
