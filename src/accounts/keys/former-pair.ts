interface Rotated {
  readonly revoked_at: Date | null;
  readonly expires_at: Date | null;
  readonly previous_valid_until: Date | null;
}

/**
 * Until when the pair that a key had before its rotation still works; null once it does not. The row keeps
 * it until it is cleaned up, also of a key that has been revoked or has expired since.
 */
export function formerPairUntil(key: Rotated, now: Date): Date | null {
  const { revoked_at: revoked, expires_at: expires, previous_valid_until: until } = key;
  if (revoked !== null || until === null || until <= now) return null;
  if (expires === null || expires > until) return until;
  return expires > now ? expires : null;
}
