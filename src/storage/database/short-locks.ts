import { setTimeout as sleep } from 'node:timers/promises';
import { sql } from 'kysely';
import type { Connection, Database } from './connection.ts';
import { isLockConflict } from './errors.ts';

/**
 * Longest that one lock is waited for, in milliseconds. Whatever writes meanwhile waits as long, and behind the
 * three that a step takes less than a second. It is also less than the second after which PostgreSQL looks for
 * deadlocks: whoever is in one with a step sees the step give up. Not so where a step locks one table twice, more strictly
 * the second time: whoever uses the table between gets the deadlock, and at once.
 */
const LOCK_TIMEOUT_MS = 200;
/**
 * Pauses before a lock is tried again, in milliseconds: the first one, after which writes that only came at the same moment
 * are done, and the longest, in which others can write while somebody holds the lock for long.
 */
const FIRST_RETRY_MS = 50;
const RETRY_MS = 1_000;
/** How often a lock is tried: for two minutes. */
export const LOCK_TRIES = 120;

/** The migrations are not done, or tables are not partitioned yet. The message says what to do. */
export class MigrationUnfinished extends Error {
  override readonly name = 'MigrationUnfinished';
}

/** Why a lock was not to be had. */
export const HELD =
  'Others have held a table all the time: a long transaction, a backup or a vacuum, which pg_stat_activity shows.';

/**
 * Runs a transaction that locks tables. Whoever holds one of them is waited for in short turns, between which those
 * can write that wait behind.
 * @param db A connection of the owner, without a statement timeout.
 * @param tries How often, after the first tries once a second.
 */
export async function withShortLocks(
  db: Database,
  tries: number,
  work: (tx: Connection) => Promise<unknown>,
): Promise<void> {
  await untilUnlocked(tries, () =>
    db.transaction().execute(async tx => {
      await sql`set local lock_timeout = ${sql.lit(LOCK_TIMEOUT_MS)}`.execute(tx);
      await work(tx);
    }),
  );
}

/** Runs work, which leaves nothing when it fails, until no locks of others end it. */
export async function untilUnlocked(tries: number, work: () => Promise<void>): Promise<void> {
  for (let left = tries; ; left--) {
    try {
      return await work();
    } catch (error) {
      if (!isLockConflict(error) || left <= 1) throw error;
      await sleep(Math.min(RETRY_MS, FIRST_RETRY_MS * 2 ** (tries - left)));
    }
  }
}
