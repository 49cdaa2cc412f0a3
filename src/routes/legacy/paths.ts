import { PARTNER_PREFIX } from '../partner/index.ts';
import { V1_PREFIX } from '../v1/index.ts';

/** Prefix of the older contract: what the current ones have not taken of it. */
export const LEGACY_PREFIX = '/external';

/** Of a request target in absolute form (RFC 9112, 3.2.2), all that comes before the path. */
const AUTHORITY = /^[a-z][a-z0-9+.-]*:\/\/[^/?#]*/i;

/** Whether what is wrong with a request target is answered in the older contract's shape. */
export function isLegacyPath(target: string): boolean {
  const [path = ''] = target.replace(AUTHORITY, '').split(/[?#]/);
  const below = (prefix: string) => path === prefix || path.startsWith(`${prefix}/`);
  return below(LEGACY_PREFIX) && !below(V1_PREFIX) && !below(PARTNER_PREFIX);
}
