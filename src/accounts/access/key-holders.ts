import type { KeyHolder } from '#storage/repositories/keys/api-keys.ts';
import type { Membership } from '#storage/repositories/people/memberships.ts';
import type { KeyOwner } from '../keys/manage-keys.ts';

/**
 * The keys that a member sees and may revoke: for a partner's owner those of all members, for others only their own.
 */
export function visibleKeysOf(membership: Membership): KeyHolder {
  if (membership.kind === 'partner' && membership.role === 'owner') {
    return { partnerId: membership.accountId };
  }
  return ownerOf(membership);
}

/** Keys that a member may rotate: their own, since rotating shows the new secret. */
export function ownKeysOf(membership: Membership): KeyHolder {
  return ownerOf(membership);
}

/** The owner of a key that a member makes. */
export function ownerOf(membership: Membership): KeyOwner {
  return membership.kind === 'merchant'
    ? { merchantId: membership.accountId }
    : { memberId: membership.memberId };
}
