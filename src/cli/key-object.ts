import type { ApiKey } from '../database/tables.ts';

/**
 * A key as the command line shows it, without anything that could sign a request.
 * @param now Milliseconds since the epoch.
 */
export function keyObject(key: ApiKey, now: number) {
  const { previous_valid_until: previous } = key;
  return {
    keyId: key.id,
    ...(key.partner_member_id === null ? {} : { memberId: key.partner_member_id }),
    name: key.name,
    scopes: key.scopes,
    status: statusOf(key, now),
    expiresAt: key.expires_at,
    createdAt: key.created_at,
    rotatedAt: key.rotated_at,
    // The row keeps an ended pair until it is cleaned up; it works no longer.
    previousValidUntil: previous !== null && previous.getTime() > now ? previous : null,
  };
}

function statusOf(key: ApiKey, now: number): 'active' | 'revoked' | 'expired' {
  if (key.revoked_at !== null) return 'revoked';
  return key.expires_at !== null && key.expires_at.getTime() <= now ? 'expired' : 'active';
}
