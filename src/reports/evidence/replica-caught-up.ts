import { ApiError } from '#errors/api-error.ts';
import type { Database } from '#storage/database/connection.ts';
import { readReplicaLag } from '#storage/database/replica-lag.ts';

/**
 * Makes sure that a replica has replayed everything that the primary had committed until an instant.
 * Otherwise it would be missing in files that others rely on.
 * @throws ApiError E5002
 */
export async function requireReplayed(
  { primary, replica }: { readonly primary: Database; readonly replica: Database },
  until: Date,
  now: Date,
): Promise<void> {
  const lagMs = ((await readReplicaLag(primary, replica)) ?? 0) * 1_000;
  if (now.getTime() - lagMs < until.getTime()) {
    throw new ApiError('E5002', 'The read replica is behind: not all of this period is there yet.');
  }
}
