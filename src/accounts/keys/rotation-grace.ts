interface Rotated {
  readonly revoked_at: Date | null;
  readonly expires_at: Date | null;
  readonly previous_valid_until: Date | null;
}

/**
 * Until when the pair from before a rotation still works; null once it does not. The row keeps the pair until
 * it is cleaned up, even if the key was revoked or has expired since.
 */
export function formerPairUntil(key: Rotated, now: Date): Date | null {
  const { revoked_at: revoked, expires_at: expires, previous_valid_until: until } = key;
  if (revoked !== null || until === null || until <= now) return null;
  if (expires === null || expires > until) return until;
  return expires > now ? expires : null;
}
