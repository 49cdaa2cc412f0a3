import { sql } from 'kysely';
import type { Database } from '#storage/database/connection.ts';

/** Later than anything that a test does, so that no chain falls behind. */
const ALWAYS = new Date('2100-01-01T00:00:00Z');

/**
 * Marks networks as watched by nodes, so that they are offered without simulation.
 * @param ids All networks unless given.
 * @param watchedUntil The time up to which their chains are marked as watched.
 */
export async function watchNetworks(
  db: Database,
  ids?: readonly string[],
  watchedUntil = ALWAYS,
): Promise<void> {
  const chosen = ids === undefined ? sql`true` : sql`id = any(${ids})`;
  await sql`update networks set settled_by = 'chain' where ${chosen}`.execute(db);
  await sql`
    update chains
    set polled_at = ${watchedUntil}, watched_until = ${watchedUntil}, expires_until = ${watchedUntil}, halted = null
    where id in (select chain from networks where ${chosen})`.execute(db);
}
