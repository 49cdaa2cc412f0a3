import { sql } from 'kysely';
import type { Database } from '#storage/database/connection.ts';

/** Later than whatever a test does, so that no chain falls behind. */
const ALWAYS = new Date('2100-01-01T00:00:00Z');

/**
 * Makes networks look as if nodes watched their chains, so that they are offered without simulation.
 * @param ids All networks unless given.
 * @param watchedUntil Up to when their chains are said to be watched.
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
